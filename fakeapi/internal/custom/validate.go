package custom

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// validate returns the errors in an object. For an update, it omits schema errors in unchanged parts. old is nil on
// create.
func (c *Resource) validate(k *registry.Row, u, old *object) (errs field.ErrorList, warnings []string) {
	var was any
	if errs := c.validateType(k, u); len(errs) > 0 {
		return errs, nil
	}
	if old == nil {
		errs = apivalidation.ValidateObjectMetaAccessor(u, k.Namespaced, apivalidation.NameIsDNSSubdomain,
			metadata.Path)
		errs = append(errs, crdschema.Validate(c.whole, u.Object)...)
	} else {
		errs = apivalidation.ValidateObjectMetaAccessorUpdate(u, old, metadata.Path)
		was = old.Object
		errs = append(errs, crdschema.ValidateUpdate(c.whole, c.schema, u.Object, was, "")...)
	}
	errs = append(errs, c.checkScale(u.Object, true)...)
	errs = append(errs, objectmeta.Validate(nil, u.Object, c.schema, false)...)
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, c.schema, old.Object)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.schema, u.Object)...)
	}
	return c.validateRules(errs, u.Object, was)
}

func (c *Resource) validateStatus(u, old *object) (field.ErrorList, []string) {
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(u, old, metadata.Path)
	if _, ok := u.Object["status"]; ok && c.status != nil {
		errs = append(errs, crdschema.ValidateUpdate(c.status, c.schema, u.Object, old.Object, "status")...)
	}
	errs = append(errs, c.checkScale(u.Object, false)...)
	if now := listtype.ValidateListSetsAndMaps(nil, c.schema, u.Object); len(now) > 0 &&
		len(listtype.ValidateListSetsAndMaps(nil, c.schema, old.Object)) == 0 {
		errs = append(errs, now...)
	}
	return c.validateRules(errs, u.Object, old.Object)
}

func (c *Resource) validateType(k *registry.Row, u *object) (errs field.ErrorList) {
	if kind := u.GetKind(); kind != k.GVK.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+k.GVK.Kind))
	}
	if in, want := u.GetAPIVersion(), k.GVK.GroupVersion().String(); in != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), in, "must be "+want))
	}
	return errs
}

// validateRules evaluates the rules of the schema, unless errs contains an error that makes them meaningless.
func (c *Resource) validateRules(errs field.ErrorList, now, was any) (field.ErrorList, []string) {
	rules := c.rules()
	if rules == nil {
		return errs, nil
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil,
				"some validation rules were not checked because the object was invalid; correct the existing errors "+
					"to complete validation")), nil
		}
	}
	broken, warnings := rules.Check(c.schema, now, was)
	return append(errs, broken...), warnings
}

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
		warnings = append(warnings, fmt.Sprintf(
			"metadata.finalizers: %q: prefer a domain-qualified finalizer name%s to avoid accidental conflicts with "+
				"other finalizer writers", f, path))
	}
	return warnings
}

func (c *Resource) checkScale(object map[string]any, spec bool) (errs field.ErrorList) {
	if c.Version.Subresources == nil || c.Version.Subresources.Scale == nil {
		return nil
	}
	s := c.Version.Subresources.Scale
	count := func(path string) {
		n, _, err := unstructured.NestedInt64(object, crdschema.Steps(path)...)
		switch at := field.NewPath(path); {
		case err != nil:
			errs = append(errs, field.Invalid(at, n, err.Error()))
		case n < 0:
			errs = append(errs, field.Invalid(at, n, "should be a non-negative integer"))
		case n > math.MaxInt32:
			errs = append(errs, field.Invalid(at, n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)))
		}
	}
	if spec {
		count(s.SpecReplicasPath)
	}
	count(s.StatusReplicasPath)
	if s.LabelSelectorPath != nil {
		if text, _, err := unstructured.NestedString(object, crdschema.Steps(*s.LabelSelectorPath)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*s.LabelSelectorPath), text, err.Error()))
		}
	}
	return errs
}
