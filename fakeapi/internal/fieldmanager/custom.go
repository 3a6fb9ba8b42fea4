package fieldmanager

import (
	"fmt"
	"reflect"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// CustomType returns the type with which server-side apply merges custom objects. It includes the type of metadata.
func CustomType(s *structural.Structural) (typed.ParseableType, error) {
	const name = "object"
	root := s.ToKubeOpenAPI()
	identified(root, true)
	converted, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{name: root}, false)
	if err != nil {
		return typed.ParseableType{}, err
	}
	types := append(converted.Types, openAPITypes().Types...)
	parser := typed.Parser{Schema: smd.Schema{Types: types}}
	return parser.Type(name), nil
}

// identified adds apiVersion, kind and metadata to schemas of embedded objects in s; if whole is set, also to s.
func identified(s *spec.Schema, whole bool) {
	if s == nil {
		return
	}
	for name, p := range s.Properties { //detcheck:ordered each part of a schema is changed by itself
		identified(&p, false)
		s.Properties[name] = p
	}
	if s.Items != nil {
		identified(s.Items.Schema, false)
	}
	if s.AdditionalProperties != nil {
		identified(s.AdditionalProperties.Schema, false)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); whole || embedded {
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
		s.SetProperty("metadata", *spec.RefSchema("#/definitions/" + metav1.ObjectMeta{}.OpenAPIModelName()))
	}
}

// Custom holds what the field managers of a custom kind need from its CRD.
type Custom struct {
	Types map[string]typed.ParseableType // types for server-side apply, by apiVersion
	Ask   conversion.Ask                 // converts objects to another version; nil if only their apiVersion changes
	// Default sets the defaults in the schema. It does not prune null values that the schema does not allow.
	Default func(obj runtime.Object)
}

type customConverter struct {
	converter
	*Custom
}

func (v customConverter) Default(obj runtime.Object) { v.Custom.Default(obj) }

func (v customConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a %T is no custom resource", obj)
	}
	t, ok := v.Types[u.GetAPIVersion()]
	if !ok {
		return nil, fmt.Errorf("no corresponding type for %v", u.GroupVersionKind())
	}
	return t.FromUnstructured(u.Object, opts...)
}

func (v customConverter) ConvertToVersion(obj runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()})
	switch {
	case !ok:
		return nil, runtime.NewNotRegisteredErrForTarget("custom resources", reflect.TypeOf(obj), to)
	case obj.GetObjectKind().GroupVersionKind() == gvk:
		return obj, nil
	}
	if _, ok := v.Types[gvk.GroupVersion().String()]; !ok {
		return nil, runtime.NewNotRegisteredErrForKind("custom resources", gvk)
	}
	if v.Ask != nil {
		return conversion.To(obj.(*unstructured.Unstructured), gvk.GroupVersion(), v.Ask)
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

type converter struct {
	k *registry.Row
	t typed.ParseableType
}

func (v converter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return v.t.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return v.t.FromStructured(obj, opts...)
}

func (v converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	content, ok := value.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a %s is no object after merging", v.k.GVK.Kind)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// ConvertToVersion returns obj with its Go type. For another version than that of v.k, it returns an error, for which
// field managers drop the entries of this version.
func (v converter) ConvertToVersion(obj runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	if gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{v.k.GVK}); !ok || gvk != v.k.GVK {
		return nil, runtime.NewNotRegisteredErrForTarget("versions", reflect.TypeOf(obj), to)
	}
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

func (v converter) Convert(_, _, _ any) error {
	return fmt.Errorf("%s has one version", v.k.GVK.Kind)
}

func (v converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (v converter) Default(obj runtime.Object) {
	if v.k.Default != nil {
		v.k.Default(obj)
	}
}

func (v converter) New(schema.GroupVersionKind) (runtime.Object, error) { return v.k.Empty(), nil }
