package registry

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// limitRanges and resourceQuotas are in force: see package admission.
var limitRanges = goType[corev1.LimitRange, corev1.LimitRangeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("LimitRange"), Resource: "limitranges", Singular: "limitrange",
	ShortNames: []string{"limits"},
	Namespaced: true, CreateOnUpdate: true, NamesItself: true, Default: On(defaultLimitRange),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.LimitRange),
		Main:         Update{Validate: again(validation.LimitRange), again: checks{onCreate}},
		Canonicalize: On(func(l *corev1.LimitRange) { l.Spec.Limits = orNil(l.Spec.Limits) }),
	},
})

// defaultLimitRange completes limits for containers: the default is the
// maximum, the default request is the default or the minimum.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		roundUp(&item.Max, &item.Min, &item.Default, &item.DefaultRequest, &item.MaxLimitRequestRatio)
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
	for name, value := range from { //detcheck:ordered each name is set once
		if _, ok := list[name]; !ok {
			list[name] = value.DeepCopy()
		}
	}
	return list
}

var resourceQuotas = goType[corev1.ResourceQuota, corev1.ResourceQuotaList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ResourceQuota"), Resource: "resourcequotas", Singular: "resourcequota",
	ShortNames: []string{"quota"},
	Namespaced: true, Status: true, ReturnDeleted: true,
	Default: On(func(q *corev1.ResourceQuota) { roundUp(&q.Spec.Hard, &q.Status.Hard, &q.Status.Used) }),
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		PrepareCreate:  On(func(q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{} }),
		ValidateCreate: Check(validation.Quota),
		WarnCreate:     func(obj runtime.Object) []string { return validation.WarnQuota(obj.(*corev1.ResourceQuota)) },
		Main: Update{Prepare: Over(func(q, old *corev1.ResourceQuota) {
			q.Status = old.Status
		}), Validate: Compare(validation.QuotaUpdate), again: checks{onUpdate}},
		ForStatus: Update{Prepare: Over(func(q, old *corev1.ResourceQuota) {
			q.Spec = old.Spec
		}), Validate: Compare(validation.QuotaStatus), again: checks{onUpdate}},
	},
})
