package meta

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// SameRefsBut reports whether both objects have the same references, those to
// one owner left aside.
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

// SameFinalizersBut reports whether both lists hold the same finalizers, those
// of the actor's own left aside.
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

// SameBody reports whether two versions are the same in everything outside the metadata.
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

// sameEncoding reports whether two values have one protobuf encoding; they may
// mean the same all the same if not. It costs a fraction of a deep comparison.
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
