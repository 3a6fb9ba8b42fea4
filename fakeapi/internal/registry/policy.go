package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var validatingPolicies = goType[admissionv1.ValidatingAdmissionPolicy,
	admissionv1.ValidatingAdmissionPolicyList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy"),
	Resource: "validatingadmissionpolicies", Singular: "validatingadmissionpolicy",
	Categories: apiExtensions, Status: true, MustVersion: true,
	Default: On(func(p *admissionv1.ValidatingAdmissionPolicy) {
		orDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatch(p.Spec.MatchConstraints)
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true,
		ValidateCreate: Check(spoken(validation.ValidatingPolicy)), WarnCreate: warnStatic,
		PrepareCreate: On(func(p *admissionv1.ValidatingAdmissionPolicy) {
			p.Status, p.Generation = admissionv1.ValidatingAdmissionPolicyStatus{}, 1
		}),
		Main: Update{
			Prepare: both(Over(func(p, old *admissionv1.ValidatingAdmissionPolicy) { p.Status = old.Status }),
				Recount(func(p *admissionv1.ValidatingAdmissionPolicy) any { return p.Spec })),
			Validate: again(spoken(validation.ValidatingPolicy)), again: checks{onCreate}, Warn: warnStaticAgain,
		},
		ForStatus: Update{Prepare: Over(func(p, old *admissionv1.ValidatingAdmissionPolicy) {
			p.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(p, old)
		}), Validate: again(validation.ValidatingPolicyStatus)},
		ResetByStatus: wholeMetadata,
	},
})

var validatingPolicyBindings = goType[admissionv1.ValidatingAdmissionPolicyBinding,
	admissionv1.ValidatingAdmissionPolicyBindingList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding"),
	Resource: "validatingadmissionpolicybindings", Singular: "validatingadmissionpolicybinding",
	Categories: apiExtensions, MustVersion: true,
	Default: On(func(b *admissionv1.ValidatingAdmissionPolicyBinding) { defaultMatch(b.Spec.MatchResources) }),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true, PrepareCreate: first,
		ValidateCreate: Check(validation.ValidatingBinding), WarnCreate: warnStatic,
		Main: Update{
			Prepare:  Recount(func(b *admissionv1.ValidatingAdmissionPolicyBinding) any { return b.Spec }),
			Validate: again(validation.ValidatingBinding), again: checks{onCreate}, Warn: warnStaticAgain,
		},
	},
})

var mutatingPolicies = goType[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"),
	Resource: "mutatingadmissionpolicies", Singular: "mutatingadmissionpolicy",
	Categories: apiExtensions, MustVersion: true,
	Default: On(func(p *admissionv1.MutatingAdmissionPolicy) {
		orDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatch(p.Spec.MatchConstraints)
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true, PrepareCreate: first,
		ValidateCreate: Check(spoken(validation.MutatingPolicy)), WarnCreate: warnStatic,
		Main: Update{
			Prepare:  Recount(func(p *admissionv1.MutatingAdmissionPolicy) any { return p.Spec }),
			Validate: again(spoken(validation.MutatingPolicy)), again: checks{onCreate}, Warn: warnStaticAgain,
		},
	},
})

var mutatingPolicyBindings = goType[admissionv1.MutatingAdmissionPolicyBinding,
	admissionv1.MutatingAdmissionPolicyBindingList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicyBinding"),
	Resource: "mutatingadmissionpolicybindings", Singular: "mutatingadmissionpolicybinding",
	Categories: apiExtensions, MustVersion: true,
	Default: On(func(b *admissionv1.MutatingAdmissionPolicyBinding) { defaultMatch(b.Spec.MatchResources) }),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true, PrepareCreate: first,
		ValidateCreate: Check(validation.MutatingBinding), WarnCreate: warnStatic,
		Main: Update{
			Prepare:  Recount(func(b *admissionv1.MutatingAdmissionPolicyBinding) any { return b.Spec }),
			Validate: again(validation.MutatingBinding), again: checks{onCreate}, Warn: warnStaticAgain,
		},
	},
})
