package daemonset

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

func podRoute(o *Options) host.Route {
	if o.Era == Selector || o.Era == Gated {
		t := &routing.TieBreak{Owner: Kind, Selects: selects}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: Kind, Selects: selects, Later: availableLater, Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

// revisionRoute routes revisions like pods, without expectations: a revision's name identifies it.
func revisionRoute(o *Options) host.Route {
	d := &routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}
	return host.Route{Kind: history.Kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		effect := *out
		d.Do(v, e, &effect)
		out.Keys = effect.Keys
	}}
}

// nodeRoute enqueues the sets that a new or changed node affects: a set that lacks a pod there, has one that may not
// stay, or miscounts. It considers only bound pods. The deletion of a node enqueues nothing.
func nodeRoute(o *Options) host.Route {
	return host.Route{Kind: nodeKind, Do: func(v host.View, e host.Event, out *host.Effect) {
		node, _ := e.New.(*corev1.Node)
		if old, _ := e.Old.(*corev1.Node); node == nil || old != nil && alike(old, node) {
			return
		}
		v.Each(Kind, "", func(obj runtime.Object) bool {
			set := obj.(*appsv1.DaemonSet)
			run, stay := fits(set, node, o)
			bound := boundTo(v, set, node.Name, o)
			if run && !bound || !stay && bound || bound && set.Status.NumberMisscheduled > 0 {
				out.Keys = append(out.Keys, routing.Key(set))
			}
			return true
		})
	}}
}

// alike reports whether two versions of a node are equal for every set.
func alike(a, b *corev1.Node) bool {
	same := func(x, y corev1.Taint) bool {
		return x.Key == y.Key && x.Value == y.Value && x.Effect == y.Effect && x.TimeAdded.Equal(y.TimeAdded)
	}
	return maps.Equal(a.Labels, b.Labels) && slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, same)
}

// boundTo reports whether a pod of a set is bound to a node. The name in its ControllerRef decides, or in earlier eras
// the selector.
func boundTo(v host.View, set *appsv1.DaemonSet, node string, o *Options) bool {
	found := false
	v.Each(pod.Kind, set.Namespace, func(obj runtime.Object) bool {
		p := obj.(*corev1.Pod)
		if p.Spec.NodeName != node {
			return true
		}
		if o.Era == Selector || o.Era == Gated {
			found = selects(set, p.Labels)
		} else {
			ref := metav1.GetControllerOfNoCopy(p)
			found = ref != nil && ref.Kind == Kind.Kind && ref.Name == set.Name
		}
		return !found
	})
	return found
}
