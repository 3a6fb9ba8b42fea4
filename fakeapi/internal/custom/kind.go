package custom

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

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Resource is what a kind has that a definition defines.
type Resource struct {
	Definition  *crd.Definition
	Version     *apiextensionsv1.CustomResourceDefinitionVersion
	schema      *structural.Structural
	whole       *spec.Schema // what objects are validated against
	status      *spec.Schema // what a write to status is validated against; nil: nothing
	fields      []selectablePath
	Merge       map[string]typed.ParseableType // by apiVersion
	Terminating bool
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

// Row is the row in the table of kinds for one version of a definition.
func (c *Resource) Row() *registry.Kind {
	names, spec := &c.Definition.Status.AcceptedNames, &c.Definition.Spec
	gvk := schema.GroupVersionKind{Group: spec.Group, Version: c.Version.Name, Kind: names.Kind}
	k := &registry.Kind{
		GVK: gvk, Resource: names.Plural, Singular: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced:  spec.Scope == apiextensionsv1.NamespaceScoped,
		Status:      c.Version.Subresources != nil && c.Version.Subresources.Status != nil,
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
			c.SetDefaults(u)
		},
	}
	k.Shallow = shallowCustom
	k.Prefix = spec.Group + "/" + names.Plural
	for _, f := range c.Version.SelectableFields {
		k.SelectableKeys = append(k.SelectableKeys, strings.TrimPrefix(f.JSONPath, "."))
	}
	c.objectStrategy(k)
	return k
}

// ViewOf makes a version of a definition a view of the stored version:
// conversion changes nothing but the apiVersion, then each side prunes what it
// does not know.
func (c *Resource) ViewOf(stored *Resource, k, of *registry.Kind) *registry.View {
	convert := func(c *Resource, to *registry.Kind, obj runtime.Object) *unstructured.Unstructured {
		u := obj.DeepCopyObject().(*unstructured.Unstructured)
		u.SetGroupVersionKind(to.GVK)
		c.tidy(u)
		return u
	}
	return &registry.View{
		Stored: of,
		Show:   func(obj runtime.Object) runtime.Object { return convert(c, k, obj) },
		Keep: func(obj runtime.Object) runtime.Object {
			u := convert(stored, of, obj)
			stored.SetDefaults(u)
			return u
		},
	}
}

// Compile reads the schema of one version of a definition, which was validated.
func Compile(d *crd.Definition, v *apiextensionsv1.CustomResourceDefinitionVersion, merge map[string]typed.ParseableType) *Resource {
	c := &Resource{Definition: d, Version: v, Merge: merge, Terminating: crd.Terminating(d)}
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
	crdschema.ForValidation(c.whole)
	if status, ok := c.whole.Properties["status"]; ok && v.Subresources != nil && v.Subresources.Status != nil {
		c.status = &status
	}
	c.fields = selectablePaths(v.SelectableFields)
	merge[schema.GroupVersion{Group: d.Spec.Group, Version: v.Name}.String()], err = fieldmanager.CustomType(c.schema)
	if err != nil {
		panic(fmt.Sprintf("fakeapi: the schema of %s in version %s was accepted, but cannot be merged: %v", d.Name, v.Name, err))
	}
	return c
}
