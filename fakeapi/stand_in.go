package fakeapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Convert is what the conversion webhook of a definition does: it makes of an object that
// of another version. The object is its own. It has to be a function of what it is
// given. Of the metadata only labels and annotations may differ.
type Convert func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
