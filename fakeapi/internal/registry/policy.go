package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var validatingPolicies = kind[admissionv1.ValidatingAdmissionPolicy, admissionv1.ValidatingAdmissionPolicyList](
	admissionv1.SchemeGroupVersion, validatingPolicyRules(), &Kind{
		Counts: "Spec", MustVersion: true, StatusOnly: true,
		Default: On(admissiondefaults.SetObjectDefaults_ValidatingAdmissionPolicy),
	})

func validatingPolicyRules() validation.Kind {
	rules := checked(validation.ValidatingPolicy)
	rules.Status = func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
		return validation.ValidatingPolicyStatus(obj.(*admissionv1.ValidatingAdmissionPolicy)), nil
	}
	return rules
}

var validatingPolicyBindings = kind[admissionv1.ValidatingAdmissionPolicyBinding,
	admissionv1.ValidatingAdmissionPolicyBindingList](admissionv1.SchemeGroupVersion,
	checked(validation.ValidatingBinding), &Kind{
		Counts: "Spec", MustVersion: true,
		Default: On(admissiondefaults.SetObjectDefaults_ValidatingAdmissionPolicyBinding),
	})

var mutatingPolicies = kind[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](
	admissionv1.SchemeGroupVersion, checked(validation.MutatingPolicy), &Kind{
		Counts: "Spec", MustVersion: true, Default: On(admissiondefaults.SetObjectDefaults_MutatingAdmissionPolicy),
	})

var mutatingPolicyBindings = kind[admissionv1.MutatingAdmissionPolicyBinding,
	admissionv1.MutatingAdmissionPolicyBindingList](admissionv1.SchemeGroupVersion, checked(validation.MutatingBinding),
	&Kind{
		Counts: "Spec", MustVersion: true,
		Default: On(admissiondefaults.SetObjectDefaults_MutatingAdmissionPolicyBinding),
	})

var disruptionBudgets = kind[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](
	policyv1.SchemeGroupVersion, validation.PodDisruptionBudget, &Kind{Counts: "Spec", MustVersion: true})

var limitRanges = kind[corev1.LimitRange, corev1.LimitRangeList](corev1.SchemeGroupVersion, validation.LimitRange,
	&Kind{
		CreateOnUpdate: true, NamesItself: true, Default: On(coredefaults.SetObjectDefaults_LimitRange),
		Canonicalize: On(func(l *corev1.LimitRange) { l.Spec.Limits = orNil(l.Spec.Limits) }),
	})

var resourceQuotas = kind[corev1.ResourceQuota, corev1.ResourceQuotaList](corev1.SchemeGroupVersion,
	validation.ResourceQuota, &Kind{ReturnDeleted: true, Default: On(coredefaults.SetObjectDefaults_ResourceQuota)})

var priorityClasses = kind[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](
	schedulingv1.SchemeGroupVersion, validation.PriorityClass, &Kind{
		Default:       On(schedulingdefaults.SetObjectDefaults_PriorityClass),
		PrepareCreate: On(func(c *schedulingv1.PriorityClass) { c.Generation = 1 }),
	})

var runtimeClasses = kind[nodev1.RuntimeClass, nodev1.RuntimeClassList](nodev1.SchemeGroupVersion,
	validation.RuntimeClass, &Kind{CreateOnUpdate: true, MustVersion: true})
