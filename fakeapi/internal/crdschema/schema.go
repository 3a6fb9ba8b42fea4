// Package crdschema is what the schema of a CRD says of values: where they are, and what is wrong
// with them.
package crdschema

import (
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Property is the schema of a key of an object; nil when there is none.
func Property(s *structural.Structural, key string) *structural.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[key]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// Steps splits a simple path like ".spec.replicas".
func Steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
