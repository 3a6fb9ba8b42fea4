// Package validation checks the objects of built-in kinds by the rules of Kubernetes itself:
// the packages below k8s.io/kubernetes/pkg/apis, called as the strategies of the real
// server call them. Only the kinds of admission are checked by code of this package,
// since upstream's compiles their expressions with some 500 packages more.
package validation

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var specPath = field.NewPath("spec")

// Scale checks the scale of an object that a client sends.
func Scale(s *autoscalingv1.Scale, namespaced bool) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&s.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain,
		field.NewPath("metadata"))
	if s.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(specPath.Child("replicas"), s.Spec.Replicas,
			"must be greater than or equal to 0"))
	}
	return errs
}
