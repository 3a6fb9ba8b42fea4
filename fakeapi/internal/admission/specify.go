package admission

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// mustSpecify are the names that every container of a Pod has to have a value for when
// a quota limits them. The real server calls this a mistake that stays.
var mustSpecify = map[corev1.ResourceName]func(*corev1.ResourceRequirements) bool{
	corev1.ResourceCPU:            requests(corev1.ResourceCPU),
	corev1.ResourceMemory:         requests(corev1.ResourceMemory),
	corev1.ResourceRequestsCPU:    requests(corev1.ResourceCPU),
	corev1.ResourceRequestsMemory: requests(corev1.ResourceMemory),
	corev1.ResourceLimitsCPU:      limits(corev1.ResourceCPU),
	corev1.ResourceLimitsMemory:   limits(corev1.ResourceMemory),
}

func requests(name corev1.ResourceName) func(*corev1.ResourceRequirements) bool {
	return func(r *corev1.ResourceRequirements) bool { _, ok := r.Requests[name]; return ok }
}

func limits(name corev1.ResourceName) func(*corev1.ResourceRequirements) bool {
	return func(r *corev1.ResourceRequirements) bool { _, ok := r.Limits[name]; return ok }
}

// unspecified refuses a Pod whose containers leave open what a quota limits. It is
// Constraints of the evaluator of Pods; a Pod that says it for itself is exempt.
// names are sorted.
func unspecified(quota string, names []corev1.ResourceName, obj runtime.Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok || saysItself(pod) {
		return nil
	}
	var missing []string
	for _, name := range names {
		specifies := mustSpecify[name]
		if specifies == nil {
			continue
		}
		var open []string
		for _, cs := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range cs {
				if !specifies(&cs[i].Resources) {
					open = append(open, cs[i].Name)
				}
			}
		}
		if len(open) > 0 {
			slices.Sort(open)
			missing = append(missing, string(name)+" for: "+strings.Join(slices.Compact(open), ","))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return errors.New("failed quota: " + quota + ": must specify " + strings.Join(missing, "; "))
}

// leftOpen reports whether a container of a Pod has no value for a name that it must have one
// for.
func leftOpen(name corev1.ResourceName, obj runtime.Object) bool {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return false
	}
	specifies := mustSpecify[name]
	if specifies == nil {
		return false
	}
	for _, list := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list { // a copy of each would take longer than the question
			if !specifies(&list[i].Resources) {
				return true
			}
		}
	}
	return false
}

// saysItself: the Pod's own resources, which count for all its containers, are set.
func saysItself(pod *corev1.Pod) bool {
	own := pod.Spec.Resources
	if own == nil {
		return false
	}
	for _, list := range [...]corev1.ResourceList{own.Requests, own.Limits} {
		for name := range list { //detcheck:ordered any such name will do
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
				strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
				return true
			}
		}
	}
	return false
}
