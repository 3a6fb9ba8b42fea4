package fieldmanager

import (
	"fmt"

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
)

// CustomType is how server-side apply merges objects of a custom kind:
// what the schema says, and metadata as everywhere.
func CustomType(s *structural.Structural) (typed.ParseableType, error) {
	const name = "object"
	root := s.ToKubeOpenAPI()
	if root.Properties == nil {
		root.Properties = map[string]spec.Schema{}
	}
	for _, key := range [...]string{"apiVersion", "kind", "metadata"} {
		root.Properties[key] = *spec.StringProperty()
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{name: root}, false)
	if err != nil {
		return typed.ParseableType{}, err
	}
	meta := metav1.ObjectMeta{}.OpenAPIModelName()
	for i := range converted.Types {
		if converted.Types[i].Name != name || converted.Types[i].Map == nil {
			continue
		}
		fields := converted.Types[i].Map.Fields
		for j := range fields {
			if fields[j].Name == "metadata" {
				fields[j].Type = smd.TypeRef{NamedType: &meta}
			}
		}
	}
	types := append(converted.Types, openAPITypes().Types...)
	parser := typed.Parser{Schema: smd.Schema{Types: types}}
	return parser.Type(name), nil
}

// Custom says of the versions of a definition how their objects are merged and converted.
type Custom struct {
	Types map[string]typed.ParseableType // by apiVersion
	Ask   conversion.Ask                 // nil: versions differ in their names alone
}

// customConverter is what the field manager has to know of a custom kind: the
// merge type of every version, and how versions become each other.
type customConverter struct {
	converter
	types map[string]typed.ParseableType // by apiVersion
	ask   conversion.Ask                 // who converts objects; nil: versions differ in their names alone
}

// ObjectToTyped implements managedfields.TypeConverter.
func (v customConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a %T is no custom resource", obj)
	}
	t, ok := v.types[u.GetAPIVersion()]
	if !ok {
		return nil, fmt.Errorf("no corresponding type for %v", u.GroupVersionKind())
	}
	return t.FromUnstructured(u.Object, opts...)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (v customConverter) ConvertToVersion(obj runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()})
	if !ok || obj.GetObjectKind().GroupVersionKind() == gvk {
		return obj, nil
	}
	if _, ok := v.types[gvk.GroupVersion().String()]; !ok {
		return nil, runtime.NewNotRegisteredErrForKind("custom resources", gvk)
	}
	if v.ask != nil {
		return conversion.To(obj.(*unstructured.Unstructured), gvk.GroupVersion(), v.ask)
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}
