package fakeapi

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
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
	served      []*Kind                        // of the stored version only: all versions that are served
	terminating bool
}

// Definition returns the definition of a custom kind and the version of it
// that the kind is; nil for built-in kinds. Both belong to the server.
func (k *Kind) Definition() (*apiextensionsv1.CustomResourceDefinition, *apiextensionsv1.CustomResourceDefinitionVersion) {
	if k.custom == nil {
		return nil, nil
	}
	return k.custom.from, k.custom.version
}

// tableOf finds the table of a definition's objects. Tables outlive
// definitions: a definition that comes again finds what is left of its objects.
func (s *Server) tableOf(d *definition) *table {
	for _, t := range s.tables[len(builtin):] {
		if t.kind.custom.from.Name == d.Name {
			return t
		}
	}
	return nil
}

// syncKinds makes the server's kinds those that its definitions define.
func (c *call) syncKinds() {
	s := c.s
	kinds, single := known[:len(known):len(known)], builtin[:len(builtin):len(builtin)]
	alive := map[int]bool{}
	s.tables[definitions.ordinal].each("", func(e *entry) bool {
		d := e.obj.(*definition)
		if !served(d) {
			return true
		}
		t := s.tableOf(d)
		if t == nil || t.kind.custom.served == nil || !sameDefinition(t.kind.custom.from, d) {
			t = s.define(t, d)
		}
		alive[t.kind.ordinal] = true
		kinds, single = append(kinds, t.kind.custom.served...), append(single, t.kind.custom.first(t.kind))
		return true
	})
	for i := len(builtin); i < len(s.tables); i++ {
		if k := s.tables[i].kind; !alive[i] && k.custom.served != nil {
			gone := *k.custom
			gone.served = nil
			s.writable(k).kind = customKind(&gone, k.ordinal)
		}
	}
	s.kinds, s.single = kinds, single
}

// first is the version in which a definition's objects are counted: the stored
// one, or, when that is not served, the first that is.
func (c *custom) first(stored *Kind) *Kind {
	if c.version.Served || len(c.served) == 0 {
		return stored
	}
	return c.served[0]
}

// sameDefinition says whether two states of a definition define the same.
func sameDefinition(a, b *definition) bool {
	return a.UID == b.UID && terminating(a) == terminating(b) && equality.Semantic.DeepEqual(a.Spec, b.Spec) &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// define makes the kinds of a definition, and its table when there is none.
func (s *Server) define(t *table, d *definition) *table {
	ordinal := len(s.tables)
	if t != nil {
		ordinal = t.kind.ordinal
	}
	var stored *Kind
	made := make([]*Kind, len(d.Spec.Versions))
	merge := map[string]typed.ParseableType{}
	for i := range d.Spec.Versions {
		c := compile(d, &d.Spec.Versions[i])
		c.merge = merge
		made[i] = customKind(c, ordinal)
		merge[made[i].GVK.GroupVersion().String()] = customMergeType(c)
		if c.version.Storage {
			stored = made[i]
		}
	}
	for i, k := range made {
		if k != stored {
			k.view = versionOf(k, stored)
		}
		if d.Spec.Versions[i].Served {
			stored.custom.served = append(stored.custom.served, k)
		}
	}
	if t == nil {
		s.tables = append(s.tables[:len(s.tables):len(s.tables)], newTable(stored, s.token))
		return s.tables[ordinal]
	}
	t = s.writable(t.kind)
	t.kind = stored
	reread(t)
	return t
}

// reread shows stored objects as the real server reads them when the schema
// has changed since they were written: what the store holds stays as it is.
func reread(t *table) {
	var all []*entry
	t.each("", func(e *entry) bool {
		all = append(all, e)
		return true
	})
	for _, e := range all {
		obj := e.obj.DeepCopyObject()
		obj.GetObjectKind().SetGroupVersionKind(t.kind.GVK)
		t.kind.Default(obj)
		if !equality.Semantic.DeepEqual(obj, e.obj) {
			t.objects.ReplaceOrInsert(&entry{key: e.key, obj: obj, meta: metaOf(obj), rv: e.rv, lazy: true})
		}
	}
}

// versionOf makes a kind a view of the stored version: conversion changes
// nothing but the apiVersion, then each side prunes what it does not know.
func versionOf(k, stored *Kind) *view {
	convert := func(to *Kind, obj runtime.Object) *unstructured.Unstructured {
		u := obj.DeepCopyObject().(*unstructured.Unstructured)
		u.SetGroupVersionKind(to.GVK)
		to.custom.tidy(u)
		return u
	}
	return &view{
		stored: stored,
		show:   func(obj runtime.Object) runtime.Object { return convert(k, obj) },
		keep: func(obj runtime.Object) runtime.Object {
			u := convert(stored, obj)
			setDefaults(u.Object, stored.custom.schema)
			return u
		},
	}
}

// customKind is the row in the table of kinds for one version of a definition.
func customKind(c *custom, ordinal int) *Kind {
	names, spec := &c.from.Status.AcceptedNames, &c.from.Spec
	gvk := schema.GroupVersionKind{Group: spec.Group, Version: c.version.Name, Kind: names.Kind}
	k := &Kind{
		GVK: gvk, Resource: names.Plural, Singular: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced:  spec.Scope == apiextensionsv1.NamespaceScoped,
		Status:      c.version.Subresources != nil && c.version.Subresources.Status != nil,
		MustVersion: true, ordinal: ordinal, custom: c,
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
			setDefaults(u.Object, c.schema)
		},
	}
	k.shallow = shallowCustom
	k.prefix = spec.Group + "/" + names.Plural
	k.follow = (*call).followCustom
	for _, f := range c.version.SelectableFields {
		k.selectableKeys = append(k.selectableKeys, strings.TrimPrefix(f.JSONPath, "."))
	}
	c.objectStrategy(k)
	return k
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
