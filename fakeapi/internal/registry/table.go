// Package registry contains the table of built-in kinds: their defaults, admission, validation, selectors, scales and
// versions. Its functions work on objects, without requests or the store.
package registry

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Builtin lists the built-in kinds in their storage versions. Servers number their tables in this order.
var Builtin = []*Row{
	namespaces, nodes, configMaps, pods, replicationControllers,
	replicaSets, deployments, statefulSets, daemonSets, controllerRevisions,
	jobs, cronJobs,
	services, secrets, serviceAccounts, claims, events, leases, disruptionBudgets, endpointSlices, clusterRoles,
	customResourceDefinitions,
	endpoints, limitRanges, resourceQuotas,
	autoscalers,
	clusterRoleBindings, roles, roleBindings,
	ingresses, ingressClasses, networkPolicies, ipAddresses, serviceCIDRs,
	persistentVolumes, podTemplates, priorityClasses, runtimeClasses,
	storageClasses, csiDrivers, csiNodes, csiCapacities, volumeAttachments, volumeAttributesClasses,
	certificateRequests, validatingWebhooks, mutatingWebhooks,
	validatingPolicies, validatingPolicyBindings, mutatingPolicies, mutatingPolicyBindings,
	flowSchemas, priorityLevels, deviceClasses, resourceClaims, resourceClaimTemplates, resourceSlices,
	apiServices,
}

// OtherVersions lists the built-in kinds in versions that are not stored.
var OtherVersions = []*Row{autoscalersV1, newEvents}

// Family returns all versions of a built-in kind, the storage version first.
func (k *Row) Family() []*Row {
	s := k
	if k.View != nil {
		s = k.View.Stored
	}
	all := []*Row{s}
	for _, other := range OtherVersions {
		if other.View.Stored == s {
			all = append(all, other)
		}
	}
	return all
}

// Kinds of the objects in requests to subresources. No table stores these objects.
var (
	Scales    = goType[autoscalingv1.Scale, autoscalingv1.Scale](autoscalingv1.SchemeGroupVersion, &Row{Namespaced: true})
	Evictions = goType[policyv1.Eviction, policyv1.Eviction](policyv1.SchemeGroupVersion, &Row{Namespaced: true})
	Bindings  = goType[corev1.Binding, corev1.Binding](corev1.SchemeGroupVersion, &Row{Namespaced: true})
)
