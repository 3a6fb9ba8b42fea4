package fakeapi

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// limitKinds are kept as objects: nothing here enforces limits or routes to
// endpoints.
var limitKinds = []*row{endpoints, limitRanges, resourceQuotas}

var endpoints = goType[corev1.Endpoints, corev1.EndpointsList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("Endpoints"), Resource: "endpoints", Singular: "endpoints", ShortNames: []string{"ep"},
	Namespaced: true, CreateOnUpdate: true, Default: on(defaultEndpoints),
	Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	strategy: strategy{
		name:           apivalidation.NameIsDNSSubdomain,
		prefix:         "services/endpoints",
		validateCreate: check(validateEndpoints),
		warnCreate:     func(obj runtime.Object) []string { return warnAddresses(obj.(*corev1.Endpoints)) },
		main: update{
			validate: compare(func(e, _ *corev1.Endpoints) field.ErrorList { return validateEndpoints(e) }),
			warn:     func(obj, _ runtime.Object) []string { return warnAddresses(obj.(*corev1.Endpoints)) },
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

var limitRanges = goType[corev1.LimitRange, corev1.LimitRangeList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("LimitRange"), Resource: "limitranges", Singular: "limitrange", ShortNames: []string{"limits"},
	Namespaced: true, CreateOnUpdate: true, Default: on(defaultLimitRange),
	strategy: strategy{name: apivalidation.NameIsDNSSubdomain, main: update{again: []metaCheck{onCreate}}},
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

var resourceQuotas = goType[corev1.ResourceQuota, corev1.ResourceQuotaList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("ResourceQuota"), Resource: "resourcequotas", Singular: "resourcequota", ShortNames: []string{"quota"},
	Namespaced: true, Status: true, ReturnDeleted: true,
	strategy: strategy{
		name:          apivalidation.NameIsDNSSubdomain,
		prepareCreate: on(func(q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{} }),
		warnCreate:    func(obj runtime.Object) []string { return warnQuota(obj.(*corev1.ResourceQuota)) },
		main:          update{prepare: over(func(q, old *corev1.ResourceQuota) { q.Status = old.Status }), again: []metaCheck{onUpdate}},
		status:        update{prepare: over(func(q, old *corev1.ResourceQuota) { q.Spec = old.Spec }), again: []metaCheck{onUpdate}},
	},
})
