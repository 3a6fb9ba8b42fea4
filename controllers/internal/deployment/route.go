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

// tieBreak enqueues one of the Deployments that select a ReplicaSet. They have no expectations: a name derived from the
// template is created once.
func tieBreak(v host.View, e host.Event, out *host.Effect) {
	(&routing.TieBreak{Owner: Kind, Selects: selects}).Do(v, e, out)
	out.Created, out.Deleted = out.Created[:0], out.Deleted[:0]
}

func selects(owner runtime.Object, have map[string]string) bool {
	s := owner.(*appsv1.Deployment).Spec.Selector
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && len(have) > 0 && ref.Selects(s, have)
}

// podGone enqueues a Deployment of strategy Recreate whose last pod is gone, because it waits for that. Other pod
// events do not concern a Deployment, which reads its ReplicaSets' status (RULES B34).
//
// Upstream lists the ReplicaSets from the server here; this uses the cache. The ReplicaSet of the deleted pod is in it,
// and a new one will cause an event.
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

// deploymentOf returns the Deployment that owns a pod's ReplicaSet, or nil.
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

// hasPods reports whether one of a Deployment's ReplicaSets owns a pod.
func hasPods(v host.View, d *appsv1.Deployment) bool {
	found := false
	v.Each(podKind, d.Namespace, func(obj runtime.Object) bool {
		owner := deploymentOf(v, obj.(*corev1.Pod))
		found = owner != nil && owner.UID == d.UID
		return !found
	})
	return found
}
