// Package validation checks the objects of built-in kinds, as the strategies of
// the real server do. Each function is a function of the objects alone: the new
// one, and, of an update, the old one. Their metadata is checked elsewhere.
package validation

import "k8s.io/apimachinery/pkg/util/validation/field"

var (
	specPath   = field.NewPath("spec")
	statusPath = field.NewPath("status")
)
