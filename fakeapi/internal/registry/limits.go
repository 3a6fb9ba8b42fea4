package registry

import (
	corev1 "k8s.io/api/core/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// limitRanges and resourceQuotas are in force: see package admission.
var limitRanges = goType[corev1.LimitRange, corev1.LimitRangeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("LimitRange"), Resource: "limitranges", Singular: "limitrange",
	ShortNames: []string{"limits"},
	Namespaced: true, CreateOnUpdate: true, NamesItself: true, Default: On(coredefaults.SetObjectDefaults_LimitRange),
	strategy: strategy{
		Create:       validation.LimitRange.Create,
		Main:         Update{Judge: validation.LimitRange.Update},
		Canonicalize: On(func(l *corev1.LimitRange) { l.Spec.Limits = orNil(l.Spec.Limits) }),
	},
})

var resourceQuotas = goType[corev1.ResourceQuota, corev1.ResourceQuotaList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ResourceQuota"), Resource: "resourcequotas", Singular: "resourcequota",
	ShortNames: []string{"quota"},
	Namespaced: true, Status: true, ReturnDeleted: true,
	Default: On(coredefaults.SetObjectDefaults_ResourceQuota),
	strategy: strategy{
		PrepareCreate: On(func(q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{} }),
		Create:        validation.ResourceQuota.Create,
		Main: Update{Prepare: Over(func(q, old *corev1.ResourceQuota) {
			q.Status = old.Status
		}), Judge: validation.ResourceQuota.Update},
		ForStatus: Update{Prepare: Over(func(q, old *corev1.ResourceQuota) {
			q.Spec = old.Spec
		}), Judge: validation.ResourceQuota.Status},
	},
})
