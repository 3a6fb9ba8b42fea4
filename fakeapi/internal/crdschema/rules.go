package crdschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/rule"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// HasRules says whether a schema has rules (x-kubernetes-validations), at any depth.
func HasRules(s *structural.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || HasRules(s.Items) || s.AdditionalProperties != nil &&
		HasRules(s.AdditionalProperties.Structural) {
		return true
	}
	for _, p := range s.Properties { // any will do
		if HasRules(&p) {
			return true
		}
	}
	return false
}

// CheckRules checks a value against the rules of its schema. Of the rules of
// the real server's language only those that [rule.Parse] reads are there:
// definitions with others are refused.
func CheckRules(at *field.Path, s *structural.Structural, now, was any) (errs field.ErrorList) {
	if s == nil || now == nil {
		return nil
	}
	for i := range s.XValidations {
		if err := checkRule(at, s, &s.XValidations[i], now, was); err != nil {
			errs = append(errs, err)
		}
	}
	switch now := now.(type) {
	case map[string]any:
		old, _ := was.(map[string]any)
		keys := slices.Sorted(maps.Keys(now))
		for _, key := range keys {
			path := at.Child(key)
			if _, named := s.Properties[key]; !named {
				path = at.Key(key)
			}
			errs = append(errs, CheckRules(path, Property(s, key), now[key], old[key])...)
		}
	case []any:
		old, _ := was.([]any)
		for i := range now {
			var before any
			if s.XListType != nil && *s.XListType == "map" {
				before = sameKeys(now[i], old, s.XListMapKeys)
			}
			errs = append(errs, CheckRules(at.Index(i), s.Items, now[i], before)...)
		}
	}
	return errs
}

func checkRule(at *field.Path, s *structural.Structural, r *apiextensionsv1.ValidationRule, now, was any) *field.Error {
	parsed, err := rule.Parse(r.Rule)
	if err != nil {
		panic("fakeapi: a rule was accepted, but does not parse: " + r.Rule + ": " + err.Error())
	}
	if parsed.UsesOld && was == nil {
		return nil
	}
	ok, err := parsed.Holds(now, was)
	if err != nil {
		return field.Invalid(at, s.Type, fmt.Sprintf("%v evaluating rule: %v", err, ruleText(r)))
	}
	if ok || !parsed.UsesOld && was != nil && same.JSON(now, was) {
		return nil
	}
	if path := strings.TrimPrefix(r.FieldPath, "."); path != "" {
		at = at.Child(path)
	}
	message := strings.TrimSpace(r.Message)
	if r.Message == "" {
		message = "failed rule: " + ruleText(r)
	}
	var value any = now
	if s.Type == "object" || s.Type == "array" {
		value = field.OmitValueType{}
	}
	if r.Reason != nil {
		switch *r.Reason {
		case apiextensionsv1.FieldValueForbidden:
			return field.Forbidden(at, message)
		case apiextensionsv1.FieldValueRequired:
			return field.Required(at, message)
		case apiextensionsv1.FieldValueDuplicate:
			return field.Duplicate(at, value)
		}
	}
	return field.Invalid(at, value, message)
}

// ruleText is how errors name a rule.
func ruleText(r *apiextensionsv1.ValidationRule) string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}
