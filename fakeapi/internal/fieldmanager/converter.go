package fieldmanager

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// converter is what the field manager has to know of a kind.
type converter struct {
	k *registry.Kind
	t typed.ParseableType
}

// ObjectToTyped implements managedfields.TypeConverter.
func (v converter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return v.t.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return v.t.FromStructured(obj, opts...)
}

// TypedToObject implements managedfields.TypeConverter.
func (v converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	content, ok := value.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a %s is no object after merging", v.k.GVK.Kind)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (v converter) ConvertToVersion(obj runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	out := v.k.Empty()
	if _, same := out.(*unstructured.Unstructured); same {
		return obj, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %v: %v", v.k.GVK, err)
	}
	out.GetObjectKind().SetGroupVersionKind(v.k.GVK)
	return out, nil
}

// Convert implements runtime.ObjectConvertor.
func (v converter) Convert(_, _, _ any) error {
	return fmt.Errorf("%s has one version", v.k.GVK.Kind)
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (v converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements runtime.ObjectDefaulter.
func (v converter) Default(obj runtime.Object) {
	if v.k.Default != nil {
		v.k.Default(obj)
	}
}

// New implements runtime.ObjectCreater.
func (v converter) New(schema.GroupVersionKind) (runtime.Object, error) { return v.k.Empty(), nil }
