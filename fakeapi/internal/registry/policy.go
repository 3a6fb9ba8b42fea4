package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

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
