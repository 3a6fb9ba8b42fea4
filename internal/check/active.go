package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// active counts those dependents that their owner wants. Controllers keep others as a history: revisions, and
// workloads of older revisions that are scaled to 0.
func (f *found) active(s *subject, dependents []manifest) (n int) {
	for _, d := range dependents {
		if f.counts(s, d.Unstructured) {
			n++
		}
	}
	return n
}

// counts reports whether an owner wants such a dependent, and does not merely keep it. One that is scaled to 0 counts
// where the sample's own dependents of its kind are created so.
func (f *found) counts(s *subject, dependent runtime.Object) bool {
	gvk := dependent.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvk = s.server.KindOf(dependent).GVK
	}
	return !slices.Contains(f.asleep, gvk) && gvk.Kind != "ControllerRevision" &&
		(!scaledToZero(dependent, gvk.Kind) || slices.ContainsFunc(f.dependents, func(d manifest) bool {
			return d.GroupVersionKind() == gvk && scaledToZero(d.Unstructured, gvk.Kind)
		}))
}

// scaledToZero reports whether an object has the field spec.replicas, and it is 0. Of built-in objects only workloads
// are looked at: to decode one takes time.
func scaledToZero(obj runtime.Object, kind string) bool {
	if _, custom := obj.(*unstructured.Unstructured); !custom && !slices.Contains(workloads, kind) {
		return false
	}
	n, is, err := unstructured.NestedInt64(object(obj), "spec", "replicas")
	return is && err == nil && n == 0
}

var workloads = []string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}
