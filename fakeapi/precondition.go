package fakeapi

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// conditionUID refuses a write to another incarnation.
func (c *call) conditionUID(e *entry, asked types.UID) error {
	if asked != "" && asked != e.meta.GetUID() {
		return c.errPrecondition(e, "UID", string(asked), string(e.meta.GetUID()))
	}
	return nil
}

// conditionMeta refuses a request for another incarnation or revision, in a strategy's words. nil fields are not
// compared.
func (c *call) conditionMeta(e *entry, uid *types.UID, version *string) error {
	const text = "Precondition failed: %[1]s in precondition: %[2]v, %[1]s in object meta: %[3]v"
	m := e.meta
	if uid != nil && *uid != m.GetUID() {
		return c.errConflict(m.GetName(), fmt.Sprintf(text, "UID", *uid, m.GetUID()))
	}
	if version != nil && *version != m.GetResourceVersion() {
		return c.errConflict(m.GetName(), fmt.Sprintf(text, "ResourceVersion", *version, m.GetResourceVersion()))
	}
	return nil
}

// precondition refuses a delete of another incarnation or revision.
func (c *call) precondition(old *entry, pre *metav1.Preconditions) error {
	if pre == nil {
		return nil
	}
	gr := schema.GroupResource{Group: c.k.GVK.Group, Resource: c.k.GVK.Kind}
	if pre.UID != nil && *pre.UID != old.meta.GetUID() {
		return apierrors.NewConflict(gr, old.meta.GetName(), fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
				"deleted and then recreated",
			*pre.UID, old.meta.GetUID()))
	}
	if pre.ResourceVersion != nil && *pre.ResourceVersion != old.meta.GetResourceVersion() {
		return apierrors.NewConflict(gr, old.meta.GetName(), fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The "+
				"object might have been modified",
			*pre.ResourceVersion, old.meta.GetResourceVersion()))
	}
	return nil
}

// errPrecondition is the storage layer's error for the wrong incarnation or revision.
func (c *call) errPrecondition(e *entry, what, asked, have string) error {
	return c.errConflict(e.meta.GetName(), fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: %s in precondition: %s, %s in object meta: %s",
		c.k.row.StoragePrefix(), e.key, what, asked, what, have))
}
