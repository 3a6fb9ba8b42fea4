package quotausage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Governs reports whether a quota counts an object, which means that all scopes of the quota match. Only Pods and
// PersistentVolumeClaims have scopes, so a quota with a scope counts no other objects.
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

// claimHolds reports whether a scope matches a claim. A claim without a VolumeAttributesClass has the class "".
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

// bestEffort reports whether the Pod's QoS class is BestEffort. If the status has no class, bestEffort derives it: the
// Pod and its containers must have no request or limit of CPU or memory.
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

// looksElsewhere reports whether a term of the Pod's affinity refers to other namespaces.
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

// CountOf returns the name under which quotas count the objects of a resource: "count/deployments.apps".
func CountOf(of schema.GroupResource) corev1.ResourceName {
	if of.Group == "" && of.Resource == "pods" { // most objects are Pods; this avoids building the name
		return "count/pods"
	}
	return corev1.ResourceName("count/" + of.String())
}

// Measures reports whether a name in a quota's spec.hard, such as requests.cpu, limits objects of a resource.
func Measures(of schema.GroupResource, name corev1.ResourceName) bool {
	return counts(name, of) || of.Group == "" && measuredIn(name, of.Resource)
}

// counts returns whether name equals [CountOf] of a resource. It does not build that name.
func counts(name corev1.ResourceName, of schema.GroupResource) bool {
	rest, ok := strings.CutPrefix(string(name), "count/")
	if !ok {
		return false
	}
	group, ok := strings.CutPrefix(rest, of.Resource)
	if of.Group == "" {
		return ok && group == ""
	}
	return ok && strings.HasPrefix(group, ".") && group[1:] == of.Group
}

// measuredIn does the work of [Measures] for resources of the core group, except for names such as count/pods.
func measuredIn(name corev1.ResourceName, kind string) bool {
	switch kind {
	case "configmaps", "resourcequotas", "replicationcontrollers", "secrets":
		return string(name) == kind
	case "services":
		return name == corev1.ResourceServices || name == corev1.ResourceServicesNodePorts ||
			name == corev1.ResourceServicesLoadBalancers
	case "persistentvolumeclaims":
		_, byClass, _ := strings.Cut(string(name), storageClass)
		what := corev1.ResourceName(byClass)
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage ||
			what == corev1.ResourcePersistentVolumeClaims || what == corev1.ResourceRequestsStorage
	case "pods":
		return ofPods(name)
	}
	return false
}

const requests = corev1.DefaultResourceRequestsPrefix

func ofPods(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	s := string(name)
	return strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix) || strings.HasPrefix(s, requests) && extended(s)
}

// deviceClass is the prefix of a name in a quota that limits the devices of a class.
const deviceClass = "deviceclass.resource.kubernetes.io/"

// extended reports whether a resource is not defined by Kubernetes, or is a class of devices.
func extended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(strings.TrimPrefix(name, requests), deviceClass)
}
