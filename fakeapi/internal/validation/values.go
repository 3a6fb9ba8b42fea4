package validation

import (
	"slices"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oneOf says whether a value is among some.
func oneOf[T comparable](value T, of []T) bool { return slices.Contains(of, value) }

// among checks that a value, if there is one, is among those that there are.
func among[T ~string](value *T, path *field.Path, of ...T) field.ErrorList {
	if value == nil || oneOf(*value, of) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *value, of)}
}

// named checks a name by a rule.
func named(name string, path *field.Path, rule func(name string, prefix bool) []string) (errs field.ErrorList) {
	for _, msg := range rule(name, false) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

// mustName is named for what has to have a name.
func mustName(name string, path *field.Path, rule func(name string, prefix bool) []string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return named(name, path, rule)
}

// required checks that a text is there.
func required(text string, path *field.Path) field.ErrorList {
	if text != "" {
		return nil
	}
	return field.ErrorList{field.Required(path, "")}
}

// plain makes a rule of a check that knows no prefixes.
func plain(check func(string) []string) func(string, bool) []string {
	return func(name string, _ bool) []string { return check(name) }
}

// qualified checks a name that may have a domain in front.
func qualified(name string, path *field.Path) (errs field.ErrorList) {
	for _, msg := range utilvalidation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

// amongSome is among for what has to be given.
func amongSome[T ~string](value T, path *field.Path, of ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return among(&value, path, of...)
}
