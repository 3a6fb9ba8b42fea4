package custom

import (
	"fmt"
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Row returns the rules for one version of a CRD, in the form that package registry uses for built-in kinds.
func (c *Resource) Row() *registry.Row {
	names, spec := &c.Definition.Status.AcceptedNames, &c.Definition.Spec
	gvk := schema.GroupVersionKind{Group: spec.Group, Version: c.Version.Name, Kind: names.Kind}
	k := &registry.Row{
		GVK: gvk, Resource: names.Plural, Singular: names.Singular, ShortNames: names.ShortNames,
		Categories:  names.Categories,
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
	k.Shallow = shallow
	k.Prefix = spec.Group + "/" + names.Plural
	for _, f := range c.Version.SelectableFields {
		k.SelectableKeys = append(k.SelectableKeys, strings.TrimPrefix(f.JSONPath, "."))
		c.fields = append(c.fields, crdschema.Steps(f.JSONPath))
	}
	c.strategy(k)
	return k
}

// ViewOf returns the conversions between c and the storage version. They set apiVersion and remove unknown fields.
func (c *Resource) ViewOf(stored *Resource, of *registry.Row) *registry.View {
	to := func(c *Resource) func(runtime.Object) runtime.Object {
		return func(obj runtime.Object) runtime.Object {
			u := obj.DeepCopyObject().(*unstructured.Unstructured)
			u.SetAPIVersion(c.groupVersion().String())
			c.tidy(u)
			return u
		}
	}
	return &registry.View{Stored: of, Show: to(c), Keep: to(stored)}
}

// strategy sets the functions of a row that prepare and validate creates and updates of custom objects.
func (c *Resource) strategy(k *registry.Row) {
	status := k.Status
	k.PrepareCreate = registry.On(func(u *object) {
		if status {
			delete(u.Object, "status")
		}
		u.SetGeneration(1)
	})
	k.Create = func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
		errs, _ := c.validate(k, obj.(*object), nil) // warnings only occur in updates
		return errs, warnFinalizers(metadata.Of(obj).GetFinalizers(), nil)
	}
	k.Main = registry.Update{MetadataToo: true,
		Prepare: registry.Over(func(u, old *object) { prepareUpdate(u, old, status) }),
		Judge: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
			errs, warnings := c.validate(k, obj.(*object), old.(*object))
			return errs, append(warnings,
				warnFinalizers(metadata.Of(obj).GetFinalizers(), metadata.Of(old).GetFinalizers())...)
		},
	}
	k.ForStatus = registry.Update{MetadataToo: true,
		Prepare: registry.Over(prepareStatus),
		Judge: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
			return c.validateStatus(obj.(*object), old.(*object))
		},
	}
	k.Selectable = func(obj runtime.Object, set fields.Set) {
		for i, path := range c.fields {
			set[k.SelectableKeys[i]] = selectableText(obj.(*object).Object, path)
		}
	}
	if s := c.Version.Subresources; s != nil && s.Scale != nil {
		k.Scale = scaling(s.Scale)
	}
}

func prepareUpdate(u, old *object, status bool) {
	if status {
		if was, ok := old.Object["status"]; ok {
			u.Object["status"] = was
		} else {
			delete(u.Object, "status")
		}
	}
	if !equality.Semantic.DeepEqual(withoutMeta(u.Object), withoutMeta(old.Object)) {
		u.SetGeneration(old.GetGeneration() + 1)
	}
}

func withoutMeta(object map[string]any) map[string]any {
	rest := copyKeys(object)
	delete(rest, "metadata")
	return rest
}

func prepareStatus(u, old *object) {
	status, ok := u.Object["status"]
	managed := u.GetManagedFields()
	u.Object = old.DeepCopy().Object
	u.SetManagedFields(managed)
	if ok {
		u.Object["status"] = status
	} else {
		delete(u.Object, "status")
	}
}

// shallow copies an object and its metadata, and shares everything else.
func shallow(obj runtime.Object) runtime.Object {
	now := copyKeys(obj.(*unstructured.Unstructured).Object)
	if m, ok := now["metadata"].(map[string]any); ok {
		now["metadata"] = copyKeys(m)
	}
	return &unstructured.Unstructured{Object: now}
}

func copyKeys(m map[string]any) map[string]any {
	own := make(map[string]any, len(m))
	maps.Copy(own, m)
	return own
}

func scaling(s *apiextensionsv1.CustomResourceSubresourceScale) *registry.Scaling {
	want := crdschema.Steps(s.SpecReplicasPath)
	return &registry.Scaling{
		Absent: func(obj runtime.Object) error {
			if _, ok, err := unstructured.NestedInt64(obj.(*object).Object, want...); err != nil || !ok {
				return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist",
					s.SpecReplicasPath))
			}
			return nil
		},
		Read: func(obj runtime.Object) (int32, int32, string) {
			object := obj.(*object).Object
			count := func(path []string) int32 {
				n, _, err := unstructured.NestedInt64(object, path...)
				if err != nil {
					return 0
				}
				return int32(n)
			}
			selector := ""
			if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
				if text, ok, err := unstructured.NestedString(object, crdschema.Steps(*s.LabelSelectorPath)...); ok &&
					err == nil {
					selector = text
				}
			}
			return count(want), count(crdschema.Steps(s.StatusReplicasPath)), selector
		},
		Write: func(obj runtime.Object, n int32) {
			u := obj.(*object)
			u.Object = u.DeepCopy().Object
			if err := unstructured.SetNestedField(u.Object, int64(n), want...); err != nil {
				panic("fakeapi: " + s.SpecReplicasPath + " cannot be set in an object that its schema allows: " +
					err.Error())
			}
		},
	}
}

// ReplicasPaths adds to paths, for each version of the CRD, the path of the replicas; nil for a version without scale.
func (c *Resource) ReplicasPaths(paths managedfields.ResourcePathMappings) {
	for _, v := range c.Versions { //detcheck:ordered each version has a key of its own
		var path fieldpath.Path
		if s := v.Version.Subresources; s != nil && s.Scale != nil {
			for _, step := range crdschema.Steps(s.Scale.SpecReplicasPath) {
				path = append(path, fieldpath.PathElement{FieldName: &step})
			}
		}
		paths[v.groupVersion().String()] = path
	}
}

// selectableText returns the value of a field as text, for field selectors. It returns "" for a missing field.
func selectableText(object map[string]any, path []string) string {
	value, ok, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil || !ok || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
