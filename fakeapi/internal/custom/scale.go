package custom

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// scaling is the scale subresource that a definition asks for.
func scaling(s *apiextensionsv1.CustomResourceSubresourceScale) *registry.Scaling {
	want := crdschema.Steps(s.SpecReplicasPath)
	return &registry.Scaling{
		Path: want,
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

// ReplicasPaths adds where each version of the definition has its replicas; nil: it has none.
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
