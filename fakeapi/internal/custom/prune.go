package custom

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// tidy is prune for what has been seen before: there is nobody to tell of it.
func (c *Resource) tidy(u *unstructured.Unstructured) {
	if _, err := c.Prune(u, false); err != nil {
		u.Object["metadata"] = map[string]any{}
	}
}

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
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, c.schema, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: strict})...)
	crdschema.DropNulls(u.Object, c.schema)
	fieldErr, more := objectmeta.CoerceWithOptions(nil, u.Object, c.schema, false, objectmeta.CoerceOptions{DropInvalidFields: !strict, ReturnUnknownFieldPaths: strict})
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

// SetDefaults fills in what the schema says of absent values.
func (c *Resource) SetDefaults(u *unstructured.Unstructured) {
	crdschema.SetDefaults(u.Object, c.schema)
}
