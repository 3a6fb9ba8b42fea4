package hosted_test

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// detail is what else of an object is compared at the end of a drawn world: by name which of the world's
// owners it belongs to, its images, its conditions but for a pod's, which are the kubelet's to time, and an
// EndpointSlice's endpoints.
func detail(o runtime.Object, all []runtime.Object) string {
	text := ""
	for _, ref := range o.(metav1.Object).GetOwnerReferences() {
		if strings.HasPrefix(ref.Name, "one-") || strings.HasPrefix(ref.Name, "two-") {
			if ref.Kind == "ReplicaSet" && madeBy(ref, all) {
				continue // its name is a hash of what made it
			}
			text += " " + ref.Name
		}
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	for _, at := range [][]string{{"spec", "containers"}, {"spec", "template", "spec", "containers"}} {
		containers, _, _ := unstructured.NestedSlice(raw, at...)
		for _, c := range containers {
			text += fmt.Sprint(" ", c.(map[string]any)["image"])
		}
	}
	if kind := fmt.Sprintf("%T", o); !strings.HasSuffix(kind, ".Pod") {
		conditions, _, _ := unstructured.NestedSlice(raw, "status", "conditions")
		said := []string{} // in the order in which they last changed, which is no state: their list is a map by type
		for _, c := range conditions {
			m := c.(map[string]any)
			said = append(said, fmt.Sprintf(" %v=%v(%v)", m["type"], m["status"], m["reason"]))
		}
		slices.Sort(said)
		text += strings.Join(said, "")
	}
	if endpoints, is, _ := unstructured.NestedSlice(raw, "endpoints"); is {
		text += fmt.Sprintf(" %d endpoints", len(endpoints))
	}
	return text
}

// madeBy reports whether an owner has a controller itself.
func madeBy(ref metav1.OwnerReference, all []runtime.Object) bool {
	return slices.ContainsFunc(all, func(o runtime.Object) bool {
		m := o.(metav1.Object)
		return m.GetUID() == ref.UID && metav1.GetControllerOf(m) != nil
	})
}
