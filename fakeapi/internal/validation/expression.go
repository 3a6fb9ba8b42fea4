package validation

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Yield is what an expression has to yield.
type Yield int

// What expressions of policies and webhooks yield.
const (
	YieldBool Yield = iota
	YieldText
	YieldAnnotation // a text or nothing
	YieldAny        // of variables
	YieldObject     // what is applied
	YieldJSONPatch
)

// Expression is a text in the common expression language, with what it may speak of.
type Expression struct {
	Text     string
	Variable string // what later expressions call its value; only of YieldAny
	Yields   Yield
	Params   bool // whether there is an object of parameters
}

// Expressions says what is wrong with an expression; "" for nothing.
type Expressions interface {
	Wrong(e Expression) string
}

// Language makes what compiles the expressions of one object. variables: they may have names.
type Language func(variables bool) Expressions

// compiles checks an expression. shown is how it stands in the object.
func compiles(x Expressions, e Expression, shown string, path *field.Path) field.ErrorList {
	if why := x.Wrong(e); why != "" {
		return field.ErrorList{field.Invalid(path, shown, why)}
	}
	return nil
}

// validateConditions checks on which conditions a webhook or a policy is asked.
func validateConditions(of Language, params bool, all []admissionv1.MatchCondition,
	path *field.Path) (errs field.ErrorList) {
	if len(all) > 64 {
		errs = append(errs, field.TooMany(path, len(all), 64))
	}
	if len(all) == 0 {
		return nil
	}
	x, seen := of(false), map[string]bool{}
	for i, c := range all {
		text, at := strings.TrimSpace(c.Expression), path.Index(i).Child("expression")
		if text == "" {
			errs = append(errs, field.Required(at, ""))
		} else {
			errs = append(errs, compiles(x, Expression{Text: text, Params: params}, text, at)...)
		}
		switch at := path.Index(i).Child("name"); {
		case c.Name == "":
			errs = append(errs, field.Required(at, ""))
		case seen[c.Name]:
			errs = append(append(errs, qualified(c.Name, at)...), field.Duplicate(at, c.Name))
		default:
			errs = append(errs, qualified(c.Name, at)...)
		}
		seen[c.Name] = true
	}
	return errs
}
