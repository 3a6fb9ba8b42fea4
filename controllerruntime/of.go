package controllerruntime

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Of makes a function of a Go type one of the server's objects, for what a
// [host.Controller] tells the laws:
//
//	controllers[0].Replicas = controllerruntime.Of(func(w *v1.Widget) int { return int(w.Spec.Replicas) })
//
// An object that does not fit the type panics: nothing could be said of it.
func Of[T, R any](f func(*T) R) func(runtime.Object) R {
	return func(obj runtime.Object) R { return f(typed[T](obj)) }
}

func typed[T any](obj runtime.Object) *T {
	if t, ok := any(obj).(*T); ok {
		return t
	}
	u, ok := obj.(runtime.Unstructured)
	if !ok {
		panic(fmt.Sprintf("controllerruntime: the server keeps %T, not %s", obj, reflect.TypeFor[*T]()))
	}
	t := new(T)
	if err := converter.FromUnstructured(u.UnstructuredContent(), t); err != nil {
		panic(fmt.Sprintf("controllerruntime: an object does not fit %s: %v", reflect.TypeFor[T](), err))
	}
	return t
}
