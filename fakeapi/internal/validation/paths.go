package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var SpecPath = field.NewPath("spec")

var StatusPath = field.NewPath("status")

func nonNegative(value int64, path *field.Path, name string) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(value, path.Child(name))
}
