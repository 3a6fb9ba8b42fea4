// Package meta reads the metadata of objects: who owns one, who controls it, whether it
// is being deleted and what holds it then, and in what two versions of it differ. All
// of it takes no object for an object that says nothing.
package meta

import (
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Of is an object's metadata, nil for no object.
func Of(object any) metav1.Object {
	if object == nil {
		return nil
	}
	m, _ := object.(metav1.Object)
	return m
}

// ControllerOf is an object's ControllerRef, nil for an orphan and for no object.
func ControllerOf(m metav1.Object) *metav1.OwnerReference {
	if m == nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(m)
}

// Deleting reports whether an object is there and is being deleted.
func Deleting(m metav1.Object) bool { return m != nil && m.GetDeletionTimestamp() != nil }

// Orphaning reports whether an object is being deleted and its dependents are
// to be orphaned first.
func Orphaning(m metav1.Object) bool {
	return Deleting(m) && Finalized(m, metav1.FinalizerOrphanDependents)
}

// Foreground reports whether an object is being deleted and its dependents are to
// go first.
func Foreground(m metav1.Object) bool {
	return Deleting(m) && Finalized(m, metav1.FinalizerDeleteDependents)
}

// Finalized reports whether a finalizer holds an object.
func Finalized(m metav1.Object, finalizer string) bool {
	if m == nil {
		return false
	}
	for _, f := range m.GetFinalizers() {
		if f == finalizer {
			return true
		}
	}
	return false
}

// ByPolicy reports whether a finalizer is one that the server itself puts on and
// takes off, as a deletion's policy says, and that the collector works off.
func ByPolicy(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// RefTo is the reference to an owner, nil when there is none.
func RefTo(m metav1.Object, owner types.UID) *metav1.OwnerReference {
	if m == nil {
		return nil
	}
	refs := m.GetOwnerReferences()
	for i := range refs {
		if refs[i].UID == owner {
			return &refs[i]
		}
	}
	return nil
}

// SameRef reports whether two references name one owner, or neither names any.
func SameRef(a, b *metav1.OwnerReference) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID
}

// SameOwners reports whether two lists name the same owners in one order.
func SameOwners(a, b []metav1.OwnerReference) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].UID != b[i].UID {
			return false
		}
	}
	return true
}

// FirstOf reports whether no earlier reference names the same owner.
func FirstOf(refs []metav1.OwnerReference, i int) bool {
	for k := range i {
		if refs[k].UID == refs[i].UID {
			return false
		}
	}
	return true
}

// SameLabels reports whether two objects have the same labels.
func SameLabels(a, b metav1.Object) bool { return maps.Equal(a.GetLabels(), b.GetLabels()) }

// Blocks reports whether a reference keeps its owner, when that waits for its
// dependents.
func Blocks(ref *metav1.OwnerReference) bool {
	return ref != nil && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

// Controls reports whether a reference is a ControllerRef.
func Controls(ref *metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

// Version is an object's resourceVersion as a number; 0 where it is none.
func Version(m metav1.Object) uint64 {
	v, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
