package fieldmanager

import (
	"maps"
	"sync"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	aggregator "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// clientTypes parses the merge types of client-go, which has those of all built-in kinds but a few.
var clientTypes = sync.OnceValue(func() *schema.Schema {
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
	value, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(pod)
	if err != nil {
		panic(err)
	}
	return value.Schema()
})

// openAPITypes makes merge types of the OpenAPI of CustomResourceDefinitions, APIServices, Scales and metadata.
var openAPITypes = sync.OnceValue(func() *schema.Schema {
	ref := func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) }
	models := map[string]*spec.Schema{}
	definitions := apiextensions.GetOpenAPIDefinitions(ref)
	maps.Copy(definitions, aggregator.GetOpenAPIDefinitions(ref))
	for name, d := range definitions { //detcheck:ordered each name is set once
		models[name] = &d.Schema
	}
	types, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		panic(err)
	}
	return types
})

// mergeType returns how server-side apply merges the fields of a built-in kind.
func mergeType(k *registry.Kind) typed.ParseableType {
	name := k.New().(interface{ OpenAPIModelName() string }).OpenAPIModelName()
	types := openAPITypes()
	if _, ok := types.FindNamedType(name); !ok {
		types = clientTypes()
	}
	return typed.ParseableType{TypeRef: schema.TypeRef{NamedType: &name}, Schema: types}
}
