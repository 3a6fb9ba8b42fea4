package usage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Governs reports whether a quota counts an object: all its scopes match. Only Pods and claims have scopes, so a quota
// with a scope counts nothing else.
func Governs(q *corev1.ResourceQuota, obj runtime.Object) bool {
	asked := []corev1.ScopedResourceSelectorRequirement{}
	for _, s := range q.Spec.Scopes {
		asked = append(asked, corev1.ScopedResourceSelectorRequirement{ScopeName: s,
			Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		asked = append(asked, q.Spec.ScopeSelector.MatchExpressions...)
	}
	for i := range asked {
		holds := false
		switch o := obj.(type) {
		case *corev1.Pod:
			holds = podHolds(&asked[i], o)
		case *corev1.PersistentVolumeClaim:
			holds = claimHolds(&asked[i], o)
		}
		if !holds {
			return false
		}
	}
	return true
}

// claimHolds reports whether a claim's only scope matches. A claim without a class counts like a Pod without one.
func claimHolds(s *corev1.ScopedResourceSelectorRequirement, c *corev1.PersistentVolumeClaim) bool {
	if s.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
		return false
	}
	var classes []string
	for _, name := range [...]*string{c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName} {
		if name != nil && *name != "" {
			classes = append(classes, *name)
		}
	}
	if m := c.Status.ModifyVolumeStatus; m != nil && m.TargetVolumeAttributesClassName != "" {
		classes = append(classes, m.TargetVolumeAttributesClassName)
	}
	if len(classes) == 0 {
		return hasClass(s, "")
	}
	return slices.ContainsFunc(classes, func(class string) bool { return hasClass(s, class) })
}

func podHolds(s *corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) bool {
	ends := pod.Spec.ActiveDeadlineSeconds != nil
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return ends
	case corev1.ResourceQuotaScopeNotTerminating:
		return !ends
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(pod)
	case corev1.ResourceQuotaScopePriorityClass:
		return hasClass(s, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return looksElsewhere(pod)
	}
	return false
}

func hasClass(s *corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	case corev1.ScopeSelectorOpIn:
		return class != "" && slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return class == "" || !slices.Contains(s.Values, class)
	}
	return false
}

// bestEffort reports the QoS class from the status, or else that no container requests CPU or memory.
func bestEffort(pod *corev1.Pod) bool {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass == corev1.PodQOSBestEffort
	}
	wants := func(r *corev1.ResourceRequirements) bool {
		for _, l := range [...]corev1.ResourceList{r.Requests, r.Limits} {
			if !l.Cpu().IsZero() || !l.Memory().IsZero() {
				return true
			}
		}
		return false
	}
	if pod.Spec.Resources != nil && wants(pod.Spec.Resources) {
		return false
	}
	for _, cs := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range cs {
			if wants(&cs[i].Resources) {
				return false
			}
		}
	}
	return true
}

// looksElsewhere reports whether a term of the Pod affinity names other namespaces.
func looksElsewhere(pod *corev1.Pod) bool {
	elsewhere := func(t *corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil }
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
		return slices.ContainsFunc(required, func(t corev1.PodAffinityTerm) bool { return elsewhere(&t) }) ||
			slices.ContainsFunc(preferred, func(t corev1.WeightedPodAffinityTerm) bool {
				return elsewhere(&t.PodAffinityTerm)
			})
	}
	a := pod.Spec.Affinity
	if a == nil {
		return false
	}
	return a.PodAffinity != nil && terms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) ||
		a.PodAntiAffinity != nil && terms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
}
