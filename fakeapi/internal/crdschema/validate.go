package crdschema

import (
	"sort"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// Validate validates a new object of a schema.
func Validate(v validation.SchemaValidator, now any) field.ErrorList {
	return Sorted(validation.ValidateCustomResource(nil, now, v))
}

// ValidateUpdate validates the new state of an object, or of its status alone. Findings about parts
// that are as they were do not count.
func ValidateUpdate(v validation.SchemaValidator, s *structural.Structural, now, was any, part string) field.ErrorList {
	correlated := common.NewCorrelatedObject(now, was, &model.Structural{Structural: s})
	var at *field.Path
	if part != "" {
		now, was = now.(map[string]any)[part], was.(map[string]any)[part]
		at, correlated = field.NewPath(part), correlated.Key(part)
	}
	return Sorted(validation.ValidateCustomResourceUpdate(at, now, was, v, validation.WithRatcheting(correlated)))
}

// Sorted puts findings into order: who made them ranged over maps.
func Sorted(errs field.ErrorList) field.ErrorList {
	sort.SliceStable(errs, func(i, j int) bool {
		if errs[i].Field != errs[j].Field {
			return errs[i].Field < errs[j].Field
		}
		return errs[i].Error() < errs[j].Error()
	})
	return errs
}
