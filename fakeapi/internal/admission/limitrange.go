package admission

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/internal/usage"
)

// limitRangerAnnotation tells what a limit range has set.
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// LimitDefaults gives the containers of a new Pod, which the caller owns, the requests
// and limits that a limit range has for those who name none, and notes that in an
// annotation. It is PodMutateLimitFunc of the LimitRanger plugin. Of several limit
// ranges the first sets what it can, and the last that sets anything is noted
// (admission/limitrange-two).
func LimitDefaults(l *corev1.LimitRange, pod *corev1.Pod) {
	asks, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range l.Spec.Limits {
		if item := &l.Spec.Limits[i]; item.Type == corev1.LimitTypeContainer {
			maps.Copy(asks, item.DefaultRequest)
			maps.Copy(most, item.Default)
		}
	}
	var said []string
	set := func(c *corev1.Container, what string) {
		var asked, limited []string
		c.Resources.Limits, limited = complete(c.Resources.Limits, most)
		c.Resources.Requests, asked = complete(c.Resources.Requests, asks)
		if len(asked) > 0 {
			said = append(said, strings.Join(asked, ", ")+" request for "+what+" "+c.Name)
		}
		if len(limited) > 0 {
			said = append(said, strings.Join(limited, ", ")+" limit for "+what+" "+c.Name)
		}
	}
	for i := range pod.Spec.Containers {
		set(&pod.Spec.Containers[i], "container")
	}
	for i := range pod.Spec.InitContainers {
		set(&pod.Spec.InitContainers[i], "init container")
	}
	if len(said) > 0 {
		annotations := map[string]string{}
		maps.Copy(annotations, pod.Annotations)
		annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(said, "; ")
		pod.Annotations = annotations
	}
}

// complete adds to a list what it lacks of another, and returns the names that it
// lacked, sorted.
func complete(list, from corev1.ResourceList) (corev1.ResourceList, []string) {
	var added []string
	for name := range from { //detcheck:ordered sorted below
		if _, ok := list[name]; !ok {
			added = append(added, string(name))
		}
	}
	if len(added) == 0 {
		return list, nil
	}
	slices.Sort(added)
	all := maps.Clone(list)
	if all == nil {
		all = corev1.ResourceList{}
	}
	for _, name := range added {
		all[corev1.ResourceName(name)] = from[corev1.ResourceName(name)].DeepCopy()
	}
	return all, added
}

// LimitPod says what of a new Pod a limit range does not allow. It is
// PodValidateLimitFunc of the LimitRanger plugin; what the real server says in the
// order of a map is said in the order of names.
func LimitPod(l *corev1.LimitRange, pod *corev1.Pod) error {
	var found findings
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		switch item.Type {
		case corev1.LimitTypeContainer:
			for _, cs := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
				for j := range cs {
					found.all(item, cs[j].Resources.Requests, cs[j].Resources.Limits)
				}
			}
		case corev1.LimitTypePod:
			requests, limits := usage.TotalOf(pod)
			found.all(item, requests, limits)
		}
	}
	return found.err()
}

// LimitClaim says what of a claim a limit range does not allow. It is
// PersistentVolumeClaimValidateLimitFunc: what counts is what a claim asks for.
func LimitClaim(l *corev1.LimitRange, claim *corev1.PersistentVolumeClaim) error {
	var found findings
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		if item.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		asked := claim.Spec.Resources.Requests
		for _, name := range names(item.Min) {
			found.atLeast(bound{item.Type, name, item.Min[name]}, asked, nil)
		}
		for _, name := range names(item.Max) {
			found.asksAtMost(bound{item.Type, name, item.Max[name]}, asked)
		}
	}
	return found.err()
}

// names are the names of a list, sorted.
func names(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}
