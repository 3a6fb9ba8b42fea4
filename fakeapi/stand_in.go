package fakeapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Convert does the work of a CRD's conversion webhook. It owns obj, must be a function of its arguments, and may
// change only labels and annotations of the metadata.
type Convert func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
