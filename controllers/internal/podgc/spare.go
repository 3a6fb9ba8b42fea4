package podgc

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// spares says why a pod may not be marked or removed as things stand (PODGC-1): it
// waits for a node, or has one that is there and in service; or it is to be removed
// and was not marked. One that has ended is no loss.
func spares(obj runtime.Object, deletes bool, get func(kind, namespace, name string) runtime.Object) string {
	pod, ok := obj.(*corev1.Pod)
	switch {
	case !ok, pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return ""
	case deletes:
		return "removed without being marked Failed"
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
		return "marked Failed while it waits for a node"
	case pod.Spec.NodeName == "":
		return ""
	}
	node, there := get(nodeKind.Kind, "", pod.Spec.NodeName).(*corev1.Node)
	switch {
	case !there:
		return ""
	case ready(node):
		return "marked Failed while node/" + node.Name + " is there and ready"
	case !tainted(node):
		return "marked Failed while node/" + node.Name + " is there and not out of service"
	case pod.DeletionTimestamp == nil:
		return "marked Failed though nobody deletes it"
	}
	return ""
}
