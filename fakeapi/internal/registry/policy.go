package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var validatingPolicies = goType[admissionv1.ValidatingAdmissionPolicy,
	admissionv1.ValidatingAdmissionPolicyList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy"),
	Resource: "validatingadmissionpolicies", Singular: "validatingadmissionpolicy",
	Categories: apiExtensions, Status: true, MustVersion: true,
	Default: On(admissiondefaults.SetObjectDefaults_ValidatingAdmissionPolicy),
	strategy: strategy{
		Create: spoken(validation.ValidatingPolicy),
		PrepareCreate: On(func(p *admissionv1.ValidatingAdmissionPolicy) {
			p.Status, p.Generation = admissionv1.ValidatingAdmissionPolicyStatus{}, 1
		}),
		Main: Update{
			Prepare: both(Over(func(p, old *admissionv1.ValidatingAdmissionPolicy) { p.Status = old.Status }),
				Recount(func(p *admissionv1.ValidatingAdmissionPolicy) any { return p.Spec })),
			Judge: spoken(validation.ValidatingPolicy),
		},
		ForStatus: Update{Prepare: Over(func(p, old *admissionv1.ValidatingAdmissionPolicy) {
			p.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(p, old)
		}), Judge: func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
			return validation.ValidatingPolicyStatus(obj.(*admissionv1.ValidatingAdmissionPolicy)), nil
		}},
		ResetByStatus: wholeMetadata,
	},
})

var validatingPolicyBindings = goType[admissionv1.ValidatingAdmissionPolicyBinding,
	admissionv1.ValidatingAdmissionPolicyBindingList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding"),
	Resource: "validatingadmissionpolicybindings", Singular: "validatingadmissionpolicybinding",
	Categories: apiExtensions, MustVersion: true,
	Default: On(admissiondefaults.SetObjectDefaults_ValidatingAdmissionPolicyBinding),
	strategy: strategy{PrepareCreate: first,
		Create: checked(validation.ValidatingBinding),
		Main: Update{
			Prepare: Recount(func(b *admissionv1.ValidatingAdmissionPolicyBinding) any { return b.Spec }),
			Judge:   checked(validation.ValidatingBinding),
		},
	},
})

var mutatingPolicies = goType[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"),
	Resource: "mutatingadmissionpolicies", Singular: "mutatingadmissionpolicy",
	Categories: apiExtensions, MustVersion: true,
	Default: On(admissiondefaults.SetObjectDefaults_MutatingAdmissionPolicy),
	strategy: strategy{PrepareCreate: first,
		Create: spoken(validation.MutatingPolicy),
		Main: Update{
			Prepare: Recount(func(p *admissionv1.MutatingAdmissionPolicy) any { return p.Spec }),
			Judge:   spoken(validation.MutatingPolicy),
		},
	},
})

var mutatingPolicyBindings = goType[admissionv1.MutatingAdmissionPolicyBinding,
	admissionv1.MutatingAdmissionPolicyBindingList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicyBinding"),
	Resource: "mutatingadmissionpolicybindings", Singular: "mutatingadmissionpolicybinding",
	Categories: apiExtensions, MustVersion: true,
	Default: On(admissiondefaults.SetObjectDefaults_MutatingAdmissionPolicyBinding),
	strategy: strategy{PrepareCreate: first,
		Create: checked(validation.MutatingBinding),
		Main: Update{
			Prepare: Recount(func(b *admissionv1.MutatingAdmissionPolicyBinding) any { return b.Spec }),
			Judge:   checked(validation.MutatingBinding),
		},
	},
})

var disruptionBudgets = goType[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](&Kind{
	GVK:      policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	Resource: "poddisruptionbudgets", Singular: "poddisruptionbudget", ShortNames: []string{"pdb"},
	Namespaced: true, Status: true, MustVersion: true,
	strategy: strategy{
		PrepareCreate: On(func(p *policyv1.PodDisruptionBudget) {
			p.Status, p.Generation = policyv1.PodDisruptionBudgetStatus{}, 1
		}),
		Create: validation.PodDisruptionBudget.Create,
		Main: Update{Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) {
			p.Status = old.Status
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		}), Judge: validation.PodDisruptionBudget.Update},
		ForStatus: Update{
			Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) { p.Spec = old.Spec }),
			Judge:   validation.PodDisruptionBudget.Status,
		},
	},
})

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

var priorityClasses = goType[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](&Kind{
	GVK:      schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
	Resource: "priorityclasses", Singular: "priorityclass", ShortNames: []string{"pc"},
	Default: On(schedulingdefaults.SetObjectDefaults_PriorityClass),
	strategy: strategy{
		PrepareCreate: first,
		Create:        validation.PriorityClass.Create,
		Main:          Update{Judge: validation.PriorityClass.Update},
	},
})

var runtimeClasses = goType[nodev1.RuntimeClass, nodev1.RuntimeClassList](&Kind{
	GVK:      nodev1.SchemeGroupVersion.WithKind("RuntimeClass"),
	Resource: "runtimeclasses", Singular: "runtimeclass", CreateOnUpdate: true, MustVersion: true,
	strategy: strategy{
		Create: validation.RuntimeClass.Create,
		Main: Update{
			Judge: validation.RuntimeClass.Update,
		},
	},
})
