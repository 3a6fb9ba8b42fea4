package registry

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// On makes a typed function one of the table.
func On[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

// Over makes a typed function of a new and an old object one of the table.
func Over[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) { f(obj.(T), old.(T)) }
}

// Recount increments the generation when the part that of returns has changed; for most kinds that is the spec.
func Recount[T metav1.Object, P any](of func(T) P) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, was := obj.(any).(T), old.(any).(T)
		if !equality.Semantic.DeepEqual(of(o), of(was)) {
			o.SetGeneration(was.GetGeneration() + 1)
		}
	}
}

// RecountExactly is Recount where a list that is empty differs from none.
func RecountExactly[T metav1.Object, P any](of func(T) P) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, was := obj.(any).(T), old.(any).(T)
		if !reflect.DeepEqual(of(o), of(was)) {
			o.SetGeneration(was.GetGeneration() + 1)
		}
	}
}

func both(one, other func(obj, old runtime.Object)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		one(obj, old)
		other(obj, old)
	}
}

// orNil returns nil for an empty list, which is not stored.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// mapOrNil is the same for a map.
func mapOrNil[T any](m map[string]T) map[string]T {
	if len(m) == 0 {
		return nil
	}
	return m
}

// asStored drops empty lists and maps, which are not stored.
func asStored(obj runtime.Object) { dropEmpty(reflect.ValueOf(obj)) }

func dropEmpty(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dropEmpty(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				dropEmpty(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.SetZero()
		}
		for i := range v.Len() {
			dropEmpty(v.Index(i))
		}
	case reflect.Map:
		if v.Len() == 0 {
			v.SetZero()
		}
	}
}

func first(obj runtime.Object) { metadata.Of(obj).SetGeneration(1) }

// orDefault fills in a value that is not given.
func orDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

type object[T any] interface {
	*T
	runtime.Object
}

// goType sets the functions of a kind that follow from its Go types.
func goType[T, L any, P object[T], PL object[L]](k *Kind) *Kind {
	k.New = func() runtime.Object { return P(new(T)) }
	k.NewList = func() runtime.Object { return PL(new(L)) }
	k.Shallow = func(obj runtime.Object) runtime.Object {
		c := *(obj.(P))
		return P(&c)
	}
	return k
}

// selectorText returns a label selector as a scale shows it.
func selectorText(sel *metav1.LabelSelector) string {
	s, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return ""
	}
	return s.String()
}
