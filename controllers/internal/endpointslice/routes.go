package endpointslice

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

func wakeService(_ host.View, e host.Event, out *host.Effect) {
	obj := e.New
	if obj == nil {
		obj = e.Old
	}
	out.Keys = append(out.Keys, routing.Key(obj.(metav1.Object)))
}

// wakeForPod enqueues the Services that select a Pod, or did, if its endpoint changed.
func wakeForPod(v host.View, e host.Event, out *host.Effect) {
	old, _ := e.Old.(*corev1.Pod)
	cur, _ := e.New.(*corev1.Pod)
	changed, moved := true, false
	if old != nil && cur != nil {
		if old.ResourceVersion == cur.ResourceVersion {
			return
		}
		changed, moved = toldOtherwise(old, cur), moves(old, cur)
	}
	if !changed && !moved {
		return
	}
	pod := cur
	if pod == nil {
		pod = old
	}
	v.Each(serviceKind, pod.Namespace, func(obj runtime.Object) bool {
		svc := obj.(*corev1.Service)
		if svc.Spec.Selector == nil {
			return true
		}
		is := ref.Contains(pod.Labels, svc.Spec.Selector)
		was := moved && ref.Contains(old.Labels, svc.Spec.Selector)
		if is != was || changed && is {
			out.Keys = append(out.Keys, routing.Key(svc))
		}
		return true
	})
}

// wakeForNode enqueues the Services of Pods that were left out because their node was unknown. Upstream retries after a
// while. Services that publish Pods in any state left none out.
func wakeForNode(v host.View, e host.Event, out *host.Effect) {
	if e.Old != nil {
		return
	}
	node := e.New.(*corev1.Node)
	v.Each(podKind, "", func(obj runtime.Object) bool {
		if pod := obj.(*corev1.Pod); pod.Spec.NodeName == node.Name {
			wakeLeftOut(v, pod, out)
		}
		return true
	})
}

// wakeLeftOut enqueues the Services that select a Pod and would leave it out without its node.
func wakeLeftOut(v host.View, pod *corev1.Pod, out *host.Effect) {
	v.Each(serviceKind, pod.Namespace, func(obj runtime.Object) bool {
		svc := obj.(*corev1.Service)
		if svc.Spec.Selector != nil && !svc.Spec.PublishNotReadyAddresses &&
			ref.Contains(pod.Labels, svc.Spec.Selector) {
			out.Keys = append(out.Keys, routing.Key(svc))
		}
		return true
	})
}
