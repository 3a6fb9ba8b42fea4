package acquitted_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// each routes an event by the old and the new object, as controller-runtime's handlers do.
func each(kind schema.GroupVersionKind, keys func(v host.View, o metav1.Object) []string) host.Route {
	return host.Route{Kind: kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		for _, obj := range []runtime.Object{e.Old, e.New} {
			if obj != nil {
				out.Keys = append(out.Keys, keys(v, obj.(metav1.Object))...)
			}
		}
	}}
}

// itself enqueues the object of an event: EnqueueRequestForObject.
func itself(kind schema.GroupVersionKind) host.Route {
	return each(kind, func(_ host.View, o metav1.Object) []string { return []string{keyOf(o)} })
}

// itsOwner enqueues the App that controls the object of an event, by kind and name:
// EnqueueRequestForOwner.
func itsOwner(kind schema.GroupVersionKind) host.Route {
	return each(kind, func(_ host.View, o metav1.Object) []string {
		if ref := metav1.GetControllerOf(o); ref != nil && ref.Kind == appKind.Kind {
			return []string{o.GetNamespace() + "/" + ref.Name}
		}
		return nil
	})
}

// mapped enqueues the keys that a function returns for the object: EnqueueRequestsFromMapFunc.
func mapped(kind schema.GroupVersionKind, keys func(v host.View, o metav1.Object) []string) host.Route {
	return each(kind, keys)
}

func keyOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }
