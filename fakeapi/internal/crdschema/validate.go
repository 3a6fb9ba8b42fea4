package crdschema

import (
	"encoding/json"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// Validate validates a value against a schema. Findings about parts that
// are as they were do not count. The validation ranges over maps: its findings
// are put into order here.
func Validate(at *field.Path, s *spec.Schema, now, was any) field.ErrorList {
	var result *validate.Result
	if was == nil {
		result = validate.NewSchemaValidator(s, nil, "", strfmt.Default).Validate(now)
	} else {
		r := &ratchet{schema: s, formats: strfmt.Default, now: now, was: was}
		result = r.Validate(now)
	}
	if result.IsValid() {
		return nil
	}
	var errs field.ErrorList
	for _, err := range result.Errors {
		errs = append(errs, schemaError(at, err))
	}
	sort.SliceStable(errs, func(i, j int) bool {
		if errs[i].Field != errs[j].Field {
			return errs[i].Field < errs[j].Field
		}
		return errs[i].Error() < errs[j].Error()
	})
	return errs
}

// schemaError is a finding of the schema's validation as the API shows it.
func schemaError(at *field.Path, err error) *field.Error {
	v, ok := err.(*openapierrors.Validation)
	if !ok {
		return field.Invalid(at, "", err.Error())
	}
	if v.Name != "" && v.Name != "." {
		at = at.Child(strings.TrimPrefix(v.Name, "."))
	}
	number := func(x any) int {
		if n, ok := x.(int64); ok {
			return int(n)
		}
		return -1
	}
	value := v.Value
	if value == nil {
		value = ""
	}
	switch v.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(at, "")
	case openapierrors.EnumFailCode:
		return field.NotSupported(at, v.Value, enumTexts(v.Values))
	case openapierrors.TooLongFailCode:
		return field.TooLong(at, "", number(v.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(at, number(v.Value), number(v.Valid))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(at, value, v.Error())
	}
	return field.Invalid(at, value, v.Error())
}

func enumTexts(values []any) []string {
	texts := []string{}
	for _, value := range values {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			panic("fakeapi: a value of an enum does not encode: " + err.Error())
		}
		texts = append(texts, string(raw))
	}
	return texts
}

// ratchet validates a value of which there is an old state: what is found
// about a part that did not change is let pass.
type ratchet struct {
	schema   *spec.Schema
	root     any
	path     string
	formats  strfmt.Registry
	options  []validate.Option
	now, was any
}

// Validate implements validate.ValueValidator.
func (r *ratchet) Validate(any) *validate.Result {
	options := append([]validate.Option{func(o *validate.SchemaValidatorOptions) {
		o.NewValidatorForField, o.NewValidatorForIndex = r.field, r.index
	}}, r.options...)
	found := validate.NewSchemaValidator(r.schema, r.root, r.path, r.formats, options...).Validate(r.now)
	if !found.IsValid() && same.JSON(r.now, r.was) {
		passed := &validate.Result{}
		passed.MergeAsWarnings(found)
		return passed
	}
	return found
}

// Applies implements validate.ValueValidator.
func (r *ratchet) Applies(any, reflect.Kind) bool { return true }

// SetPath implements validate.ValueValidator.
func (r *ratchet) SetPath(string) {}

func (r *ratchet) field(key string, s *spec.Schema, root any, path string, formats strfmt.Registry,
	options ...validate.Option) validate.ValueValidator {
	now, _ := r.now.(map[string]any)
	was, _ := r.was.(map[string]any)
	old, ok := was[key]
	if !ok || r.path == "" && (key == "kind" || key == "apiVersion") {
		return validate.NewSchemaValidator(s, root, path, formats, options...)
	}
	return &ratchet{schema: s, root: root, path: path, formats: formats, options: options, now: now[key], was: old}
}

// index correlates the items of lists that are maps by their keys, and no others.
func (r *ratchet) index(i int, s *spec.Schema, root any, path string, formats strfmt.Registry,
	options ...validate.Option) validate.ValueValidator {
	now, _ := r.now.([]any)
	was, _ := r.was.([]any)
	kind, _ := r.schema.Extensions.GetString("x-kubernetes-list-type")
	keys, _ := r.schema.Extensions["x-kubernetes-list-map-keys"].([]string)
	if kind == "map" && i < len(now) {
		if old := sameKeys(now[i], was, keys); old != nil {
			return &ratchet{schema: s, root: root, path: path, formats: formats, options: options, now: now[i],
				was: old}
		}
	}
	return validate.NewSchemaValidator(s, root, path, formats, options...)
}

// sameKeys finds the old item with the keys of a new one.
func sameKeys(item any, was []any, keys []string) any {
	now, ok := item.(map[string]any)
	if !ok {
		return nil
	}
	for _, old := range was {
		o, ok := old.(map[string]any)
		for _, key := range keys {
			ok = ok && same.JSON(now[key], o[key])
		}
		if ok {
			return o
		}
	}
	return nil
}
