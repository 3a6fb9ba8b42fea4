package fakeapi

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func (c *call) apply(ed *edit) Response {
	ed.creates = c.req.Subresource == ""
	ed.make = whole(c.applied)
	return c.modify(ed)
}

// applied merges the applied configuration into the stored object.
func (c *call) applied(old *entry) (runtime.Object, error) {
	live := c.k.row.Empty()
	if old != nil {
		live = old.obj.DeepCopyObject()
	}
	obj, err := c.merge(c.k, c.req.Subresource, live)
	if err != nil {
		return nil, err
	}
	m := metadata.Of(obj)
	if old != nil {
		c.keepTimes(m, old.meta.GetManagedFields())
	} else {
		c.keepTimes(m, nil)
	}
	if err := c.matchNamespace(m); err != nil {
		return nil, err
	}
	return obj, c.matchName(m)
}

func (c *call) merge(k *Kind, subresource string, live runtime.Object) (runtime.Object, error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(c.req.Patch, &patch.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	force := c.req.PatchO.Force != nil && *c.req.PatchO.Force
	obj, err := k.manager(subresource).Apply(live, patch, c.req.PatchO.FieldManager, force)
	if err != nil {
		return nil, err
	}
	if c.strict() {
		if err := yaml.UnmarshalStrict(c.req.Patch, &map[string]any{}); err != nil {
			if c.req.PatchO.FieldValidation == metav1.FieldValidationStrict {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
			}
			c.warnStrict([]error{err})
		}
	}
	return obj, nil
}
