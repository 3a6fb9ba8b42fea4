package routing

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// Own routes events on the controller objects: each wakes its object, resyncs
// included. Expectations are kept by key, so those of an object that was
// deleted, or replaced by a namesake in between two events, are dropped: the
// successor starts clean (RULES B31, C35).
func Own(kind schema.GroupVersionKind, without *Without) host.Route {
	return host.Route{Kind: kind, Do: func(_ host.View, e host.Event, out *host.Effect) {
		obj := e.New
		if obj == nil {
			obj = e.Old
		}
		key := Key(obj.(metav1.Object))
		if e.New == nil && !without.OwnDeletion {
			out.Forget = append(out.Forget, key)
		}
		if e.New != nil && e.Old != nil && uid(e.Old) != uid(e.New) && !without.Incarnation {
			out.Forget = append(out.Forget, key)
		}
		out.Keys = append(out.Keys, key)
	}}
}

// Key is the queue key of an object: namespace/name, or the bare name of a
// cluster-scoped one.
func Key(obj metav1.Object) string {
	if ns := obj.GetNamespace(); ns != "" {
		return ns + "/" + obj.GetName()
	}
	return obj.GetName()
}
