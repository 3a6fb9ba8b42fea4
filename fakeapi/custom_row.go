package fakeapi

import (
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// custom is what a kind has that a definition defines.
type custom struct {
	from        *definition
	version     *apiextensionsv1.CustomResourceDefinitionVersion
	schema      *structural.Structural
	whole       *spec.Schema // what objects are validated against
	status      *spec.Schema // what a write to status is validated against; nil: nothing
	fields      []selectablePath
	merge       map[string]typed.ParseableType // by apiVersion
	terminating bool
}

// shallowCustom copies an object as far as its metadata can then be changed.
func shallowCustom(obj runtime.Object) runtime.Object {
	now := copyKeys(obj.(*unstructured.Unstructured).Object)
	if m, ok := now["metadata"].(map[string]any); ok {
		now["metadata"] = copyKeys(m)
	}
	return &unstructured.Unstructured{Object: now}
}

func copyKeys(m map[string]any) map[string]any {
	own := make(map[string]any, len(m))
	for key, value := range m {
		own[key] = value
	}
	return own
}

// row is the row in the table of kinds for one version of a definition.
func (c *custom) row() *row {
	names, spec := &c.from.Status.AcceptedNames, &c.from.Spec
	gvk := schema.GroupVersionKind{Group: spec.Group, Version: c.version.Name, Kind: names.Kind}
	k := &row{
		GVK: gvk, Resource: names.Plural, Singular: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced:  spec.Scope == apiextensionsv1.NamespaceScoped,
		Status:      c.version.Subresources != nil && c.version.Subresources.Status != nil,
		MustVersion: true,
		New: func() runtime.Object {
			u := &unstructured.Unstructured{Object: map[string]any{}}
			u.SetGroupVersionKind(gvk)
			return u
		},
		NewList: func() runtime.Object {
			l := &unstructured.UnstructuredList{Object: map[string]any{}}
			l.SetGroupVersionKind(gvk.GroupVersion().WithKind(names.ListKind))
			return l
		},
		Default: func(obj runtime.Object) {
			u := obj.(*unstructured.Unstructured)
			c.tidy(u)
			c.setDefaults(u)
		},
	}
	k.shallow = shallowCustom
	k.prefix = spec.Group + "/" + names.Plural
	for _, f := range c.version.SelectableFields {
		k.selectableKeys = append(k.selectableKeys, strings.TrimPrefix(f.JSONPath, "."))
	}
	c.objectStrategy(k)
	return k
}

// viewOf makes a version of a definition a view of the stored version:
// conversion changes nothing but the apiVersion, then each side prunes what it
// does not know.
func (c *custom) viewOf(stored *custom, k, of *row) *view {
	convert := func(c *custom, to *row, obj runtime.Object) *unstructured.Unstructured {
		u := obj.DeepCopyObject().(*unstructured.Unstructured)
		u.SetGroupVersionKind(to.GVK)
		c.tidy(u)
		return u
	}
	return &view{
		stored: of,
		show:   func(obj runtime.Object) runtime.Object { return convert(c, k, obj) },
		keep: func(obj runtime.Object) runtime.Object {
			u := convert(stored, of, obj)
			stored.setDefaults(u)
			return u
		},
	}
}

// compile reads the schema of one version of a definition, which was validated.
func compile(d *definition, v *apiextensionsv1.CustomResourceDefinitionVersion, merge map[string]typed.ParseableType) *custom {
	c := &custom{from: d, version: v, merge: merge, terminating: terminating(d)}
	in := &apiextensions.CustomResourceValidation{}
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, in, nil)
	if err == nil {
		c.schema, err = structural.NewStructural(in.OpenAPIV3Schema)
	}
	if err != nil {
		panic(fmt.Sprintf("fakeapi: the schema of %s in version %s was accepted, but is not structural: %v", d.Name, v.Name, err))
	}
	c.schema = c.schema.DeepCopy()
	c.whole = c.schema.ToKubeOpenAPI()
	forValidation(c.whole)
	if status, ok := c.whole.Properties["status"]; ok && v.Subresources != nil && v.Subresources.Status != nil {
		c.status = &status
	}
	c.fields = selectablePaths(v.SelectableFields)
	merge[schema.GroupVersion{Group: d.Spec.Group, Version: v.Name}.String()], err = customMergeType(c.schema)
	if err != nil {
		panic(fmt.Sprintf("fakeapi: the schema of %s in version %s was accepted, but cannot be merged: %v", d.Name, v.Name, err))
	}
	return c
}
