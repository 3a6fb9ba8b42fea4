package fieldmanager

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// familyConverter is what the field manager has to know of a kind with
// several versions.
type familyConverter struct {
	converter
	family []*registry.Kind
	types  map[reflect.Type]typed.ParseableType
}

func newFamilyConverter(k *registry.Kind, family []*registry.Kind) familyConverter {
	v := familyConverter{converter{k, mergeType(k)}, family, map[reflect.Type]typed.ParseableType{}}
	for _, f := range family {
		v.types[reflect.TypeOf(f.New())] = mergeType(f)
	}
	return v
}

// of finds the version that an object is in.
func (v familyConverter) of(gvk schema.GroupVersionKind) *registry.Kind {
	for _, f := range v.family {
		if f.GVK == gvk {
			return f
		}
	}
	return v.k
}

// ObjectToTyped implements managedfields.TypeConverter.
func (v familyConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return v.types[reflect.TypeOf(v.of(u.GroupVersionKind()).New())].FromUnstructured(u.Object, opts...)
	}
	return v.types[reflect.TypeOf(obj)].FromStructured(obj, opts...)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (v familyConverter) ConvertToVersion(obj runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	from := v.of(obj.GetObjectKind().GroupVersionKind())
	var kinds []schema.GroupVersionKind
	for _, f := range v.family {
		kinds = append(kinds, f.GVK)
	}
	gvk, ok := to.KindForGroupVersionKinds(kinds)
	if !ok {
		return nil, runtime.NewNotRegisteredErrForTarget("versions", reflect.TypeOf(obj), to)
	}
	own := converter{k: from}
	obj, err := own.ConvertToVersion(obj, to)
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
