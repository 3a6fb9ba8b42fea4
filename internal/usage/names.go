package usage

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CountOf returns the name under which quotas count the objects of a resource.
func CountOf(of schema.GroupResource) corev1.ResourceName {
	if of.Group == "" && of.Resource == "pods" { // most are, and each creation is measured
		return "count/pods"
	}
	return corev1.ResourceName("count/" + of.String())
}

// Measures reports whether a quota's name is measured in objects of a resource.
func Measures(of schema.GroupResource, name corev1.ResourceName) bool {
	return counts(name, of) || of.Group == "" && measuredIn(name, of.Resource)
}

// counts reports whether a name is [CountOf] of a resource, without building that name.
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

// measuredIn reports whether a resource of the core group is measured under a name of its own.
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

// ofPods reports whether a name is measured in Pods.
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

// deviceClass is the prefix of resources that are devices of a class.
const deviceClass = "deviceclass.resource.kubernetes.io/"

// extended reports whether a resource is not defined by Kubernetes, or is a class of devices.
func extended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(strings.TrimPrefix(name, requests), deviceClass)
}
