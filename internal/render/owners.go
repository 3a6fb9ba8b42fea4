package render

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// Owner is one owner reference.
type Owner struct {
	Ref        sim.Ref
	Controller bool // it is the ControllerRef
}

// Deleting reports whether an object has a deletion timestamp.
func Deleting(obj any) bool {
	m, ok := obj.(metav1.Object)
	return ok && m.GetDeletionTimestamp() != nil
}

// Owners lists an object's owner references, in the order of the object.
func Owners(obj any) []Owner {
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	var owners []Owner
	for _, r := range m.GetOwnerReferences() {
		owners = append(owners, Owner{Ref: ownerRef(m, r), Controller: r.Controller != nil && *r.Controller})
	}
	return owners
}

// ownerRef returns the object of an owner reference. Nodes and Namespaces may own across namespaces; other owners get
// the dependent's namespace.
func ownerRef(m metav1.Object, r metav1.OwnerReference) sim.Ref {
	ref := sim.Ref{Kind: r.Kind, Namespace: m.GetNamespace(), Name: r.Name, UID: string(r.UID)}
	if gv, err := schema.ParseGroupVersion(r.APIVersion); err == nil && gv.Group == "" &&
		(r.Kind == "Node" || r.Kind == "Namespace" || r.Kind == "PersistentVolume") {
		ref.Namespace = ""
	}
	return ref
}

// ControllerOf returns the owner in an object's ControllerRef.
func ControllerOf(obj any) (sim.Ref, bool) {
	for _, o := range Owners(obj) {
		if o.Controller {
			return o.Ref, true
		}
	}
	return sim.Ref{}, false
}
