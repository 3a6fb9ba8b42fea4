// Package fieldmanager maintains managed fields, and merges objects in server-side apply. It gives apimachinery's
// field managers the types and conversions of a kind.
package fieldmanager

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	aggregator "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Managers holds the field managers of a kind, by subresource. They are created on first use. Servers share them.
type Managers struct {
	lock sync.Mutex
	made map[string]*managedfields.FieldManager
}

// Of returns the field manager of a subresource. merge is nil for built-in kinds.
func (ms *Managers) Of(k *registry.Row, merge *Custom,
	subresource string) *managedfields.FieldManager {
	ms.lock.Lock()
	defer ms.lock.Unlock()
	if m := ms.made[subresource]; m != nil {
		return m
	}
	m, err := newManager(k, merge, subresource)
	if err != nil {
		panic("fakeapi: no field manager for " + k.GVK.String() + ": " + err.Error())
	}
	if ms.made == nil {
		ms.made = map[string]*managedfields.FieldManager{}
	}
	ms.made[subresource] = m
	return m
}

func newManager(k *registry.Row, merge *Custom,
	subresource string) (*managedfields.FieldManager, error) {
	gv, reset := k.GVK.GroupVersion(), resetFields(k, merge != nil, subresource)
	if merge != nil {
		types := customConverter{converter{k: k}, merge}
		return managedfields.NewDefaultCRDFieldManager(types, types, types, types, k.GVK, gv, subresource, reset)
	}
	if family := k.Family(); len(family) > 1 {
		types := newFamilyConverter(k, family)
		return managedfields.NewDefaultFieldManager(types, types, types, types, k.GVK, gv, subresource, reset)
	}
	types := converter{k, mergeType(k)}
	return managedfields.NewDefaultFieldManager(types, types, types, types, k.GVK, gv, subresource, reset)
}

func resetFields(k *registry.Row, custom bool, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	version := fieldpath.APIVersion(k.GVK.GroupVersion().String())
	if w := k.Way(subresource); w != nil && w.Owns != nil {
		var owns []*fieldpath.SetMatcher
		for _, path := range w.Owns {
			steps := make([]any, len(path))
			for i, step := range path {
				if steps[i] = step; step == nil {
					steps[i] = fieldpath.MatchAnyPathElement()
				}
			}
			owns = append(owns, fieldpath.MakePrefixMatcherOrDie(steps...))
		}
		return map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewIncludeMatcherFilter(owns...)}
	}
	if !k.Status {
		return nil
	}
	set, more := fieldpath.NewSet(fieldpath.MakePathOrDie("status")), k.ResetByMain
	if subresource != "" {
		set, more = fieldpath.NewSet(fieldpath.MakePathOrDie("spec")), nil
	}
	if subresource == "status" {
		if more = k.ResetByStatus; custom {
			set.Insert(fieldpath.MakePathOrDie("metadata"))
		}
	}
	for _, path := range more {
		set.Insert(fieldpath.MakePathOrDie(path...))
	}
	return fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{version: set})
}

// Name returns the name of the field manager: manager, or (if that is "") the user agent up to the first slash.
func Name(manager, agent string) string {
	if manager != "" {
		return manager
	}
	name, _, _ := strings.Cut(agent, "/")
	var b strings.Builder
	for _, r := range name {
		if unicode.IsPrint(r) && b.Len() < 128 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clientTypes returns client-go's schema for server-side apply. It contains most built-in kinds.
var clientTypes = sync.OnceValue(func() *smd.Schema {
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
	value, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(pod)
	if err != nil {
		panic(err)
	}
	return value.Schema()
})

// openAPITypes returns the schema for server-side apply of CRDs, APIServices, Scales and metadata, built from OpenAPI.
var openAPITypes = sync.OnceValue(func() *smd.Schema {
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

func mergeType(k *registry.Row) typed.ParseableType {
	name := k.New().(interface{ OpenAPIModelName() string }).OpenAPIModelName()
	types := openAPITypes()
	if _, ok := types.FindNamedType(name); !ok {
		types = clientTypes()
	}
	return typed.ParseableType{TypeRef: smd.TypeRef{NamedType: &name}, Schema: types}
}

// familyConverter gives field managers the types and conversions of a built-in kind that has several versions.
type familyConverter struct {
	converter
	family []*registry.Row
	types  map[reflect.Type]typed.ParseableType
}

func newFamilyConverter(k *registry.Row, family []*registry.Row) familyConverter {
	v := familyConverter{converter{k, mergeType(k)}, family, map[reflect.Type]typed.ParseableType{}}
	for _, f := range family {
		v.types[reflect.TypeOf(f.New())] = mergeType(f)
	}
	return v
}

// of returns the row of a version of the kind, or v.k for an unknown version.
func (v familyConverter) of(gvk schema.GroupVersionKind) *registry.Row {
	for _, f := range v.family {
		if f.GVK == gvk {
			return f
		}
	}
	return v.k
}

func (v familyConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return v.types[reflect.TypeOf(v.of(u.GroupVersionKind()).New())].FromUnstructured(u.Object, opts...)
	}
	return v.types[reflect.TypeOf(obj)].FromStructured(obj, opts...)
}

func (v familyConverter) ConvertToVersion(obj runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	from := v.of(obj.GetObjectKind().GroupVersionKind())
	var kinds []schema.GroupVersionKind
	for _, f := range v.family {
		kinds = append(kinds, f.GVK)
	}
	gvk, ok := to.KindForGroupVersionKinds(kinds)
	if !ok || !slices.Contains(kinds, gvk) {
		return nil, runtime.NewNotRegisteredErrForTarget("versions", reflect.TypeOf(obj), to)
	}
	own := converter{k: from}
	obj, err := own.ConvertToVersion(obj, from.GVK.GroupVersion())
	if err != nil || gvk == from.GVK {
		return obj, err
	}
	if from.View != nil {
		obj = from.View.Keep(obj)
	}
	if kept := v.of(gvk); kept.View != nil {
		obj = kept.View.Show(obj)
	}
	return obj, nil
}
