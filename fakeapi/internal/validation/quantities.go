package validation

import (
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// positive checks an amount of which there has to be some.
func positive(q resource.Quantity, path *field.Path) field.ErrorList {
	if q.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), "must be greater than zero")}
}

// notNegative checks an amount of which there may be none.
func notNegative(q resource.Quantity, path *field.Path) field.ErrorList {
	if q.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), apivalidation.IsNegativeErrorMsg)}
}

// basic is notNegative as it is said of capacities.
func basic(q resource.Quantity, path *field.Path) field.ErrorList {
	if q.Value() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.Value(), "must be a valid resource quantity")}
}

// positiveField is positive for a plain number.
func positiveField(n int64, path *field.Path) field.ErrorList {
	if n > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, n, "must be greater than zero")}
}
