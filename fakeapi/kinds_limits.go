package fakeapi

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
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
		name:           validation.NameIsDNSSubdomain,
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

// validateEndpoints checks that each subset has addresses and that its ports
// can be told apart.
func validateEndpoints(e *corev1.Endpoints) (errs field.ErrorList) {
	for i := range e.Subsets {
		s, path := &e.Subsets[i], field.NewPath("subsets").Index(i)
		if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(path, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j, a := range s.Addresses {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(path.Child("addresses").Index(j).Child("ip"), a.IP, false, nil)...)
		}
		for j, a := range s.NotReadyAddresses {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(path.Child("notReadyAddresses").Index(j).Child("ip"), a.IP, false, nil)...)
		}
		for j := range s.Ports {
			p, at := &s.Ports[j], path.Child("ports").Index(j)
			if p.Name == "" && len(s.Ports) > 1 {
				errs = append(errs, field.Required(at.Child("name"), ""))
			} else if p.Name != "" {
				for _, msg := range utilvalidation.IsDNS1123Label(p.Name) {
					errs = append(errs, field.Invalid(at.Child("name"), p.Name, msg))
				}
			}
			for _, msg := range utilvalidation.IsValidPortNum(int(p.Port)) {
				errs = append(errs, field.Invalid(at.Child("port"), p.Port, msg))
			}
		}
	}
	return errs
}

// managedByEndpoints marks what the endpoints controller writes.
const managedByEndpoints = "endpoints.kubernetes.io/managed-by"

func warnAddresses(e *corev1.Endpoints) (warnings []string) {
	if e.Labels[managedByEndpoints] == "endpoint-controller" {
		return nil
	}
	for i := range e.Subsets {
		path := field.NewPath("subsets").Index(i)
		for j, a := range e.Subsets[i].Addresses {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(path.Child("addresses").Index(j).Child("ip"), a.IP)...)
		}
		for j, a := range e.Subsets[i].NotReadyAddresses {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(path.Child("notReadyAddresses").Index(j).Child("ip"), a.IP)...)
		}
	}
	return warnings
}

var limitRanges = goType[corev1.LimitRange, corev1.LimitRangeList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("LimitRange"), Resource: "limitranges", Singular: "limitrange", ShortNames: []string{"limits"},
	Namespaced: true, CreateOnUpdate: true, Default: on(defaultLimitRange),
	strategy: strategy{name: validation.NameIsDNSSubdomain, main: update{again: []metaCheck{onCreate}}},
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
		name:          validation.NameIsDNSSubdomain,
		prepareCreate: on(func(q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{} }),
		warnCreate:    func(obj runtime.Object) []string { return warnQuota(obj.(*corev1.ResourceQuota)) },
		main:          update{prepare: over(func(q, old *corev1.ResourceQuota) { q.Status = old.Status }), again: []metaCheck{onUpdate}},
		status:        update{prepare: over(func(q, old *corev1.ResourceQuota) { q.Spec = old.Spec }), again: []metaCheck{onUpdate}},
	},
})

// warnQuota warns of requests that are to be more than limits.
func warnQuota(q *corev1.ResourceQuota) (warnings []string) {
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage} {
		key := "requests." + name
		request, ok := q.Spec.Hard[key]
		if !ok && (name == corev1.ResourceCPU || name == corev1.ResourceMemory) {
			if request, ok = q.Spec.Hard[name]; ok {
				key = name
			}
		}
		limit, limited := q.Spec.Hard["limits."+name]
		if ok && limited && request.Cmp(limit) > 0 {
			warnings = append(warnings, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", key, request.String(), "limits."+name, limit.String()))
		}
	}
	return warnings
}
