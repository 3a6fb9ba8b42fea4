// Package custom creates the rules (rows of package registry) for each version of a CRD. Objects of CRDs have a schema
// instead of a Go type.
package custom

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
)

// Resource is one version of a CRD.
type Resource struct {
	Definition *crd.Definition
	Version    *apiextensionsv1.CustomResourceDefinitionVersion
	*Family
	Terminating bool // the CRD is being deleted

	*reading
	fields [][]string // the paths of selectable fields
}

// Family holds all versions of a CRD, including those that are not served.
type Family struct {
	Versions map[string]*Resource           // by version, such as "v1"
	Merge    map[string]typed.ParseableType // types for server-side apply, by apiVersion
}

// read caches compiled schemas. All servers use it.
var read crdschema.Memo[*reading]

// reading is a compiled schema. Servers share it, so it must not be changed.
type reading struct {
	schema *structural.Structural
	whole  validation.SchemaValidator // validates whole objects
	status validation.SchemaValidator // validates writes to the status subresource; nil if every status is valid
	rules  func() *crdschema.Rules    // compiled at the first call
	merge  typed.ParseableType
}

// readSchema compiles the schema of one version of an accepted CRD.
func readSchema(d *crd.Definition, v *apiextensionsv1.CustomResourceDefinitionVersion) *reading {
	r, in := &reading{}, &apiextensions.CustomResourceValidation{}
	decoded, err := clean(v.Schema)
	if err == nil {
		err = apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(decoded, in,
			nil)
	}
	if err == nil {
		r.schema, err = structural.NewStructural(in.OpenAPIV3Schema)
	}
	if err != nil {
		panic(fmt.Sprintf("fakeapi: the schema of %s in version %s was accepted, but is not structural: %v", d.Name,
			v.Name, err))
	}
	r.schema = r.schema.DeepCopy()
	r.rules = sync.OnceValue(func() *crdschema.Rules { return crdschema.CompileRules(r.schema) })
	err = defaulting.PruneDefaults(r.schema)
	if err == nil {
		r.whole, _, err = validation.NewSchemaValidator(in.OpenAPIV3Schema)
	}
	if status, ok := in.OpenAPIV3Schema.Properties["status"]; ok && err == nil {
		r.status, _, err = validation.NewSchemaValidator(&status)
	}
	if err == nil {
		r.merge, err = fieldmanager.CustomType(r.schema)
	}
	if err != nil {
		panic(fmt.Sprintf("fakeapi: the schema of %s in version %s was accepted, but cannot be used: %v", d.Name,
			v.Name, err))
	}
	return r
}

// clean encodes a schema as JSON and decodes it again. For an additionalProperties with a schema, this sets Allows.
func clean(s *apiextensionsv1.CustomResourceValidation) (decoded *apiextensionsv1.CustomResourceValidation, err error) {
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, &decoded)
	}
	return decoded, err
}

// Compile compiles one version of a valid CRD, and adds it to the family all.
func Compile(d *crd.Definition, v *apiextensionsv1.CustomResourceDefinitionVersion,
	all *Family) *Resource {
	r := read.Of(v.Schema, "", func() *reading { return readSchema(d, v) })
	c := &Resource{Definition: d, Version: v, Family: all, Terminating: crd.Terminating(d), reading: r}
	all.Versions[v.Name] = c
	all.Merge[c.groupVersion().String()] = r.merge
	return c
}

type object = unstructured.Unstructured

func (c *Resource) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: c.Definition.Spec.Group, Version: c.Version.Name}
}

// Read returns a copy of a stored object of this version, pruned and with the defaults of the current schema.
func (c *Resource) Read(raw runtime.Object) *unstructured.Unstructured {
	u := raw.DeepCopyObject().(*object)
	c.tidy(u)
	c.SetDefaults(u)
	return u
}

// Convert converts an object of another version to this version. ask is nil if only the apiVersion changes.
func (c *Resource) Convert(from *unstructured.Unstructured, ask conversion.Ask) (*unstructured.Unstructured, error) {
	to := c.groupVersion()
	if ask == nil {
		from = from.DeepCopy()
		from.SetAPIVersion(to.String())
	} else {
		var err error
		if from, err = conversion.To(from, to, ask); err != nil {
			return nil, err
		}
	}
	c.tidy(from)
	return from, nil
}

// Defaulted returns an object with the defaults of the schema. If no default is missing, it returns obj itself.
func (c *Resource) Defaulted(obj runtime.Object) runtime.Object {
	u := obj.(*object).DeepCopy()
	if c.SetDefaults(u); equality.Semantic.DeepEqual(u, obj) {
		return obj
	}
	return u
}

// tidy removes unknown fields from an object. It replaces malformed metadata with empty metadata.
func (c *Resource) tidy(u *unstructured.Unstructured) {
	if _, err := c.Prune(u, false); err != nil {
		u.Object["metadata"] = map[string]any{}
	}
}

// Prune removes unknown fields, and null values that the schema does not allow. If strict is set, it returns the
// paths of unknown fields, and an error for malformed metadata. Otherwise it removes malformed metadata.
func (c *Resource) Prune(u *unstructured.Unstructured, strict bool) (unknown []string, err error) {
	for _, key := range [...]string{"kind", "apiVersion"} {
		if _, _, err := unstructured.NestedString(u.Object, key); err != nil {
			return nil, err
		}
	}
	kind, version := u.GetKind(), u.GetAPIVersion()
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: !strict, ReturnUnknownFieldPaths: strict})
	if err != nil {
		return nil, err
	}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, c.schema, true,
		structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: strict})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, c.schema)
	fieldErr, more := objectmeta.CoerceWithOptions(nil, u.Object, c.schema, false,
		objectmeta.CoerceOptions{DropInvalidFields: !strict, ReturnUnknownFieldPaths: strict})
	if fieldErr != nil {
		return nil, fieldErr
	}
	if kind != "" {
		u.SetKind(kind)
	}
	if version != "" {
		u.SetAPIVersion(version)
	}
	if found {
		err = objectmeta.SetObjectMeta(u.Object, meta)
	}
	return append(unknown, more...), err
}

// SetDefaults sets the defaults in the schema.
func (c *Resource) SetDefaults(u *unstructured.Unstructured) {
	defaulting.Default(u.Object, c.schema)
}
