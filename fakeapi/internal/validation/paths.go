package validation

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// descending checks a path that leads down from where it is used.
func descending(text string, at *field.Path) (errs field.ErrorList) {
	if path.IsAbs(text) {
		errs = append(errs, field.Invalid(at, text, "must be a relative path"))
	}
	return append(errs, noBacksteps(text, at)...)
}

func noBacksteps(text string, at *field.Path) field.ErrorList {
	if !slices.Contains(strings.Split(text, "/"), "..") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, text, "must not contain '..'")}
}

// unreserved is descending for the names of files that a kubelet makes beside its own.
func unreserved(text string, at *field.Path) field.ErrorList {
	errs := descending(text, at)
	if strings.HasPrefix(text, "..") && !strings.HasPrefix(text, "../") {
		errs = append(errs, field.Invalid(at, text, "must not start with '..'"))
	}
	return errs
}
