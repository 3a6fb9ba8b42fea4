package law

import (
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// meta is an object's metadata, nil for no object.
func meta(object any) metav1.Object {
	if object == nil {
		return nil
	}
	m, _ := object.(metav1.Object)
	return m
}

// controllerOf is an object's ControllerRef, nil for an orphan and for no object.
func controllerOf(m metav1.Object) *metav1.OwnerReference {
	if m == nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(m)
}

func deleting(m metav1.Object) bool { return m != nil && m.GetDeletionTimestamp() != nil }

// orphaning reports whether an object is being deleted and its dependents are
// to be orphaned first.
func orphaning(m metav1.Object) bool {
	return deleting(m) && finalized(m, metav1.FinalizerOrphanDependents)
}

func foreground(m metav1.Object) bool {
	return deleting(m) && finalized(m, metav1.FinalizerDeleteDependents)
}

func finalized(m metav1.Object, finalizer string) bool {
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

// byPolicy reports whether a finalizer is one that the server itself puts on and
// takes off, as a deletion's policy says, and that the collector works off.
func byPolicy(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// refTo is the reference to an owner, nil when there is none.
func refTo(m metav1.Object, owner types.UID) *metav1.OwnerReference {
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

func sameRef(a, b *metav1.OwnerReference) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID
}

func sameOwners(a, b []metav1.OwnerReference) bool {
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

// firstOf reports whether no earlier reference names the same owner.
func firstOf(refs []metav1.OwnerReference, i int) bool {
	for k := range i {
		if refs[k].UID == refs[i].UID {
			return false
		}
	}
	return true
}

func sameLabels(a, b metav1.Object) bool { return maps.Equal(a.GetLabels(), b.GetLabels()) }

func blocks(ref *metav1.OwnerReference) bool {
	return ref != nil && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func isController(ref *metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

func versionOf(m metav1.Object) uint64 {
	v, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

func uidOf(r sim.Ref) types.UID { return types.UID(r.UID) }

// race is an object and an owner that tried to adopt it in vain.
type race struct{ object, owner types.UID }
