package law

import (
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

func blocks(ref *metav1.OwnerReference) bool {
	return ref != nil && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func isController(ref *metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

// ownedBy words a ControllerRef: "owned by rs/web-b", "owned by none".
func ownedBy(ref *metav1.OwnerReference) string {
	if ref == nil {
		return "owned by none"
	}
	return "owned by " + refName(ref)
}

func refName(ref *metav1.OwnerReference) string { return sim.Short(ref.Kind) + "/" + ref.Name }

func sameRef(a, b *metav1.OwnerReference) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID
}

func uidOf(r sim.Ref) types.UID { return types.UID(r.UID) }

func itoa(n int) string { return strconv.Itoa(n) }
