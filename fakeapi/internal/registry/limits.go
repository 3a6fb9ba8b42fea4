package registry

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// limitKinds are kept as objects: nothing here enforces limits or routes to
// endpoints.
var limitKinds = []*Kind{endpoints, limitRanges, resourceQuotas}

var endpoints = GoType[corev1.Endpoints, corev1.EndpointsList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Endpoints"), Resource: "endpoints", Singular: "endpoints", ShortNames: []string{"ep"},
	Namespaced: true, CreateOnUpdate: true, Default: On(defaultEndpoints),
	Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		Prefix:         "services/endpoints",
		ValidateCreate: check(validation.Endpoints),
		WarnCreate:     func(obj runtime.Object) []string { return validation.WarnAddresses(obj.(*corev1.Endpoints)) },
		Main: Update{
			Validate: Compare(func(e, _ *corev1.Endpoints) field.ErrorList { return validation.Endpoints(e) }),
			Warn:     func(obj, _ runtime.Object) []string { return validation.WarnAddresses(obj.(*corev1.Endpoints)) },
			again:    []metaCheck{onUpdate},
		},
	},
})

func defaultEndpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		for j := range e.Subsets[i].Ports {
			if p := &e.Subsets[i].Ports[j]; p.Protocol == "" {
				p.Protocol = corev1.ProtocolTCP
			}
		}
	}
}

var limitRanges = GoType[corev1.LimitRange, corev1.LimitRangeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("LimitRange"), Resource: "limitranges", Singular: "limitrange", ShortNames: []string{"limits"},
	Namespaced: true, CreateOnUpdate: true, Default: On(defaultLimitRange),
	strategy: strategy{NameRule: apivalidation.NameIsDNSSubdomain, Main: Update{again: []metaCheck{onCreate}}},
})

// defaultLimitRange completes limits for containers: the default is the
// maximum, the default request is the default or the minimum.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		item.Default = complete(item.Default, item.Max)
		item.DefaultRequest = complete(complete(item.DefaultRequest, item.Default), item.Min)
	}
}

func complete(list, from corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	for name, value := range from {
		if _, ok := list[name]; !ok {
			list[name] = value.DeepCopy()
		}
	}
	return list
}

var resourceQuotas = GoType[corev1.ResourceQuota, corev1.ResourceQuotaList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ResourceQuota"), Resource: "resourcequotas", Singular: "resourcequota", ShortNames: []string{"quota"},
	Namespaced: true, Status: true, ReturnDeleted: true,
	strategy: strategy{
		NameRule:      apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{} }),
		WarnCreate:    func(obj runtime.Object) []string { return validation.WarnQuota(obj.(*corev1.ResourceQuota)) },
		Main:          Update{Prepare: Over(func(q, old *corev1.ResourceQuota) { q.Status = old.Status }), again: []metaCheck{onUpdate}},
		ForStatus:     Update{Prepare: Over(func(q, old *corev1.ResourceQuota) { q.Spec = old.Spec }), again: []metaCheck{onUpdate}},
	},
})
