package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

func routes(o *Options) []host.Route {
	sets := (&routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}).Route(SetKind)
	if o.Era == Selector || o.Era == Gated {
		sets = host.Route{Kind: SetKind, Do: tieBreak}
	}
	return []host.Route{routing.Own(Kind, &o.Without.Routing), sets, {Kind: podKind, Do: podGone}}
}

// tieBreak wakes one Deployment of those that select a ReplicaSet. None ever expected
// anything: a name that follows from the template is made once.
func tieBreak(v host.View, e host.Event, out *host.Effect) {
	(&routing.TieBreak{Owner: Kind, Selects: selects}).Do(v, e, out)
	out.Created, out.Deleted = out.Created[:0], out.Deleted[:0]
}

func selects(owner runtime.Object, have map[string]string) bool {
	s := owner.(*appsv1.Deployment).Spec.Selector
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && len(have) > 0 && ref.Selects(s, have)
}

// podGone wakes a Deployment of strategy Recreate whose last pod is gone: it waits
// for that. No other event on a pod concerns a Deployment; what its pods are like it
// reads in the status of its ReplicaSets (RULES B34).
//
// Upstream lists the ReplicaSets from the server here. The cache does: the one whose
// pod has gone is in it, and of one that is yet to come an event will come.
func podGone(v host.View, e host.Event, out *host.Effect) {
	if e.New != nil {
		return
	}
	d := deploymentOf(v, e.Old.(*corev1.Pod))
	if d == nil || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType || hasPods(v, d) {
		return
	}
	out.Keys = append(out.Keys, routing.Key(d))
}

// deploymentOf is the Deployment that owns the ReplicaSet that owned a pod; nil.
func deploymentOf(v host.View, pod *corev1.Pod) *appsv1.Deployment {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	rs, _ := v.Get(SetKind, pod.Namespace, ref.Name).(*appsv1.ReplicaSet)
	if rs == nil || rs.UID != ref.UID {
		return nil
	}
	if ref = metav1.GetControllerOfNoCopy(rs); ref == nil {
		return nil
	}
	d, _ := v.Get(Kind, pod.Namespace, ref.Name).(*appsv1.Deployment)
	if d == nil || d.UID != ref.UID {
		return nil
	}
	return d
}

// hasPods reports whether a ReplicaSet that a Deployment owns owns a pod.
func hasPods(v host.View, d *appsv1.Deployment) bool {
	found := false
	v.Each(podKind, d.Namespace, func(obj runtime.Object) bool {
		owner := deploymentOf(v, obj.(*corev1.Pod))
		found = owner != nil && owner.UID == d.UID
		return !found
	})
	return found
}
