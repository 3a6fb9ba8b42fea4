// Package meta reads the metadata of objects: owners, controller, deletion and finalizers. It also compares two
// versions. Functions on one object, except [Version], treat nil as an object without any of these.
package meta

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Of returns an object's metadata, or nil.
func Of(object any) metav1.Object {
	if object == nil {
		return nil
	}
	m, _ := object.(metav1.Object)
	return m
}

// ControllerOf returns an object's ControllerRef, or nil.
func ControllerOf(m metav1.Object) *metav1.OwnerReference {
	if m == nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(m)
}

// ControlledBy reports whether an object's ControllerRef has that UID.
func ControlledBy(m metav1.Object, owner types.UID) bool {
	ref := ControllerOf(m)
	return ref != nil && ref.UID == owner
}

// Deleting reports whether an object is terminating.
func Deleting(m metav1.Object) bool { return m != nil && m.GetDeletionTimestamp() != nil }

// Orphaning reports whether an object is terminating and its dependents will be orphaned first.
func Orphaning(m metav1.Object) bool {
	return Deleting(m) && Finalized(m, metav1.FinalizerOrphanDependents)
}

// Foreground reports whether an object is terminating and its dependents will be deleted first.
func Foreground(m metav1.Object) bool {
	return Deleting(m) && Finalized(m, metav1.FinalizerDeleteDependents)
}

// Finalized reports whether an object has a given finalizer.
func Finalized(m metav1.Object, finalizer string) bool {
	return m != nil && slices.Contains(m.GetFinalizers(), finalizer)
}

// ByPolicy reports whether a finalizer is orphan or foregroundDeletion. The server adds these for a deletion policy.
func ByPolicy(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// RefTo returns an object's reference to an owner, or nil.
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

// SameRef reports whether two references name the same owner, or both are nil.
func SameRef(a, b *metav1.OwnerReference) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID
}

// SameOwners reports whether two lists name the same owners in the same order.
func SameOwners(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(x, y metav1.OwnerReference) bool { return x.UID == y.UID })
}

// FirstOf reports whether refs[i] is the first reference to its owner.
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

// Blocks reports whether a reference blocks the foreground deletion of its owner.
func Blocks(ref *metav1.OwnerReference) bool {
	return ref != nil && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

// Controls reports whether a reference is a ControllerRef.
func Controls(ref *metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

// Version returns an object's resourceVersion as a number, or 0 if it is not a number.
func Version(m metav1.Object) uint64 {
	v, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// SameRefsBut reports whether two objects have the same owner references in order. References to the UID owner are
// ignored.
func SameRefsBut(a, b metav1.Object, owner string) bool {
	x, y := a.GetOwnerReferences(), b.GetOwnerReferences()
	i, k := 0, 0
	for {
		for i < len(x) && string(x[i].UID) == owner {
			i++
		}
		for k < len(y) && string(y[k].UID) == owner {
			k++
		}
		if i == len(x) || k == len(y) {
			return i == len(x) && k == len(y)
		}
		if !equality.Semantic.DeepEqual(&x[i], &y[k]) {
			return false
		}
		i, k = i+1, k+1
	}
}

// SameFinalizersBut reports whether two lists contain the same finalizers. Finalizers in the list own are ignored.
func SameFinalizersBut(a, b, own []string) bool {
	return holdsAllBut(a, b, own) && holdsAllBut(b, a, own)
}

func holdsAllBut(a, b, own []string) bool {
	for _, f := range b {
		if !slices.Contains(a, f) && !slices.Contains(own, f) {
			return false
		}
	}
	return true
}

// SameBody reports whether two versions are equal outside the metadata.
func SameBody(a, b any) bool {
	if u, ok := a.(*unstructured.Unstructured); ok {
		v, ok := b.(*unstructured.Unstructured)
		return ok && sameContent(u.Object, v.Object)
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if va.Type() != vb.Type() || va.Kind() != reflect.Pointer || va.Elem().Kind() != reflect.Struct {
		return equality.Semantic.DeepEqual(a, b)
	}
	va, vb = va.Elem(), vb.Elem()
	for i := range va.NumField() {
		f := va.Type().Field(i)
		if !f.IsExported() || f.Name == "ObjectMeta" || f.Name == "TypeMeta" {
			continue
		}
		x, y := va.Field(i).Addr().Interface(), vb.Field(i).Addr().Interface()
		if !sameEncoding(x, y) && !equality.Semantic.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// sameEncoding reports whether two values have the same protobuf encoding. It is faster than a deep comparison.
func sameEncoding(a, b any) bool {
	type sized interface {
		Size() int
		MarshalToSizedBuffer([]byte) (int, error)
	}
	x, isX := a.(sized)
	y, isY := b.(sized)
	if !isX || !isY {
		return false
	}
	n := x.Size()
	if y.Size() != n {
		return false
	}
	buf := make([]byte, 2*n)
	_, errX := x.MarshalToSizedBuffer(buf[:n])
	_, errY := y.MarshalToSizedBuffer(buf[n:])
	return errX == nil && errY == nil && bytes.Equal(buf[:n], buf[n:])
}

func sameContent(a, b map[string]any) bool {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if k != "metadata" && !equality.Semantic.DeepEqual(a[k], b[k]) {
			return false
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok && k != "metadata" {
			return false
		}
	}
	return true
}
