package custom

import (
	"fmt"
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// checkScale checks the counts that the scale subresource shows.
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

// scaling is the scale subresource that a definition asks for.
func scaling(s *apiextensionsv1.CustomResourceSubresourceScale) *registry.Scaling {
	want := crdschema.Steps(s.SpecReplicasPath)
	return &registry.Scaling{
		Path: want,
		Absent: func(obj runtime.Object) error {
			if _, ok, err := unstructured.NestedInt64(obj.(*customObject).Object, want...); err != nil || !ok {
				return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", s.SpecReplicasPath))
			}
			return nil
		},
		Read: func(obj runtime.Object) (int32, int32, string) {
			object := obj.(*customObject).Object
			count := func(path []string) int32 {
				n, _, err := unstructured.NestedInt64(object, path...)
				if err != nil {
					return 0
				}
				return int32(n)
			}
			selector := ""
			if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
				if text, ok, err := unstructured.NestedString(object, crdschema.Steps(*s.LabelSelectorPath)...); ok && err == nil {
					selector = text
				}
			}
			return count(want), count(crdschema.Steps(s.StatusReplicasPath)), selector
		},
		Write: func(obj runtime.Object, n int32) {
			u := obj.(*customObject)
			u.Object = u.DeepCopy().Object
			if err := unstructured.SetNestedField(u.Object, int64(n), want...); err != nil {
				panic("fakeapi: " + s.SpecReplicasPath + " cannot be set in an object that its schema allows: " + err.Error())
			}
		},
	}
}
