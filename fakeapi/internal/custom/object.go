package custom

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// object is what a custom kind's objects are in Go.
type customObject = unstructured.Unstructured

// objectStrategy sets how objects of a custom kind are created and changed.
func (c *Resource) objectStrategy(k *registry.Kind) {
	status := k.Status
	k.PrepareCreate = registry.On(func(u *customObject) {
		if status {
			delete(u.Object, "status")
		}
		u.SetGeneration(1)
	})
	k.ValidateCreate = func(obj runtime.Object) field.ErrorList { return c.validate(k, obj.(*customObject), nil) }
	k.WarnCreate = func(obj runtime.Object) []string { return warnFinalizers(metadata.Of(obj).GetFinalizers(), nil) }
	k.Main = registry.Update{
		Prepare:  registry.Over(func(u, old *customObject) { prepareCustomUpdate(u, old, status) }),
		Validate: registry.Compare(func(u, old *customObject) field.ErrorList { return c.validate(k, u, old) }),
		Warn: func(obj, old runtime.Object) []string {
			return warnFinalizers(metadata.Of(obj).GetFinalizers(), metadata.Of(old).GetFinalizers())
		},
	}
	k.ForStatus = registry.Update{
		Prepare:  registry.Over(prepareCustomStatus),
		Validate: registry.Compare(func(u, old *customObject) field.ErrorList { return c.validateStatus(u, old) }),
	}
	k.Selectable = func(obj runtime.Object, set fields.Set) {
		for _, f := range c.fields {
			set[f.name] = f.text(obj.(*customObject).Object)
		}
	}
	if s := c.Version.Subresources; s != nil && s.Scale != nil {
		k.Scale = scaling(s.Scale)
	}
}

func prepareCustomUpdate(u, old *customObject, status bool) {
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

// prepareCustomStatus lets nothing but the status through.
func prepareCustomStatus(u, old *customObject) {
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

// validate checks a new object (old nil) or the change of one. What an update
// leaves as it was is not held against it.
func (c *Resource) validate(k *registry.Kind, u, old *customObject) (errs field.ErrorList) {
	var was any
	if old == nil {
		errs = apivalidation.ValidateObjectMetaAccessor(u, k.Namespaced, apivalidation.NameIsDNSSubdomain, metadata.Path)
	} else {
		errs = apivalidation.ValidateObjectMetaAccessorUpdate(u, old, metadata.Path)
		was = old.Object
	}
	errs = append(errs, crdschema.Validate(nil, c.whole, u.Object, was)...)
	errs = append(errs, c.checkScale(u.Object, true)...)
	errs = append(errs, objectmeta.Validate(nil, u.Object, c.schema, false)...)
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, c.schema, old.Object)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.schema, u.Object)...)
	}
	return c.validateRules(errs, u.Object, was)
}

func (c *Resource) validateStatus(u, old *customObject) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(u, old, metadata.Path)
	if status, ok := u.Object["status"]; ok && c.status != nil {
		errs = append(errs, crdschema.Validate(validation.StatusPath, c.status, status, old.Object["status"])...)
	}
	errs = append(errs, c.checkScale(u.Object, false)...)
	if now := listtype.ValidateListSetsAndMaps(nil, c.schema, u.Object); len(now) > 0 && len(listtype.ValidateListSetsAndMaps(nil, c.schema, old.Object)) == 0 {
		errs = append(errs, now...)
	}
	return c.validateRules(errs, u.Object, old.Object)
}

// validateRules checks the schema's rules, unless what was found before makes
// that useless.
func (c *Resource) validateRules(errs field.ErrorList, now, was any) field.ErrorList {
	if !crdschema.HasRules(c.schema) {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	return append(errs, crdschema.CheckRules(nil, c.schema, now, was)...)
}

// warnFinalizers warns of new finalizers that are not qualified.
func warnFinalizers(now, was []string) (warnings []string) {
	var added []string
	for _, f := range now {
		if !slices.Contains(was, f) && !slices.Contains(added, f) {
			added = append(added, f)
		}
	}
	sort.Strings(added)
	for _, f := range added {
		for _, msg := range utilvalidation.IsQualifiedName(f) {
			warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: %s", f, msg))
		}
		if strings.Contains(f, "/") || metadata.StandardFinalizer(f) {
			continue
		}
		path := ""
		if strings.Contains(f, ".") {
			path = " including a path (/)"
		}
		warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name%s to avoid accidental conflicts with other finalizer writers", f, path))
	}
	return warnings
}

// selectablePath is a field that a field selector may name.
type selectablePath struct {
	name string
	path []string
}

func selectablePaths(list []apiextensionsv1.SelectableField) (paths []selectablePath) {
	for _, f := range list {
		paths = append(paths, selectablePath{strings.TrimPrefix(f.JSONPath, "."), crdschema.Steps(f.JSONPath)})
	}
	return paths
}

// text is the field's value as a selector compares it; "" when there is none.
func (p selectablePath) text(object map[string]any) string {
	value, ok, err := unstructured.NestedFieldNoCopy(object, p.path...)
	if err != nil || !ok || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
