package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Access is what somebody would do, for who decides whether he may.
type Access struct {
	User                  string
	Verb, Group, Version  string // of a group "*" all
	Resource, Subresource string
	Namespace, Name       string
}

// Authorize decides whether an access is allowed, and may say why not.
type Authorize func(Access) (allowed bool, reason string)

// Owners is a write that may change what an object's owners are.
type Owners struct {
	Here     Access // the object that is written
	New, Old []metav1.OwnerReference
	Created  bool
	// Resource finds the resource of an owner's kind, and whether it is namespaced.
	Resource func(schema.GroupVersionKind) (resource string, namespaced, known bool)
}

// May refuses owner references that the user may not set: who may not delete an object
// may not have it deleted either, and who may not finalize an owner may not block its
// deletion. It is the OwnerReferencesPermissionEnforcement plugin, which is off in the
// real server unless asked for (admission/owner-permission-off).
func (o *Owners) May(authorize Authorize) error {
	if !o.changed() {
		return nil
	}
	if !o.Created {
		remove := o.Here
		remove.Verb = "delete"
		if ok, why := authorize(remove); !ok {
			return fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, <nil>", why)
		}
	}
	blocking := o.blocking()
	if len(blocking) == 0 {
		return nil
	}
	anything := Access{User: o.Here.User, Verb: "update", Group: "*", Version: "*", Resource: "*",
		Subresource: "finalizers", Name: "*"}
	if ok, _ := authorize(anything); ok {
		return nil
	}
	for _, ref := range blocking {
		gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		resource, namespaced, known := o.Resource(gvk)
		if !known {
			return fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "+
				"APIVersion %s Kind %s: no matches for kind %q in version %q", ref.APIVersion, ref.Kind, ref.Kind,
				ref.APIVersion)
		}
		finalize := Access{User: o.Here.User, Verb: "update", Group: gvk.Group, Version: gvk.Version,
			Resource: resource, Subresource: "finalizers", Name: ref.Name}
		if namespaced {
			finalize.Namespace = o.Here.Namespace
		}
		if ok, why := authorize(finalize); !ok {
			return fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "+
				"finalizers on: %v, <nil>", why)
		}
	}
	return nil
}

func (o *Owners) changed() bool {
	if len(o.New) != len(o.Old) {
		return true
	}
	for i := range o.New {
		if !equality.Semantic.DeepEqual(o.New[i], o.Old[i]) {
			return true
		}
	}
	return false
}

// blocking are the references that block the deletion of an owner and did not before.
func (o *Owners) blocking() (out []metav1.OwnerReference) {
	for _, ref := range o.New {
		if blocks(&ref) && !blockedBefore(o.Old, &ref) {
			out = append(out, ref)
		}
	}
	return out
}

func blocks(ref *metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func blockedBefore(old []metav1.OwnerReference, ref *metav1.OwnerReference) bool {
	for i := range old {
		if old[i].UID == ref.UID && blocks(&old[i]) {
			return true
		}
	}
	return false
}
