package fakeapi

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// otherVersions are further versions of built-in kinds.
var otherVersions = []*Kind{autoscalersV1, newEvents}

// withVersions puts the versions of kinds behind the kinds.
func withVersions(kinds, versions []*Kind) []*Kind {
	for _, k := range versions {
		k.ordinal = k.view.stored.ordinal
	}
	return append(kinds[:len(kinds):len(kinds)], versions...)
}

// version makes k, of which the Go type and the conversions are set, a version
// of a stored kind in everything else: it changes objects as the stored kind does.
func version(k *Kind) *Kind {
	s, v := k.view.stored, k.view
	k.Resource, k.Singular, k.ShortNames, k.Categories = s.Resource, s.Singular, s.ShortNames, s.Categories
	k.Namespaced, k.Status, k.CreateOnUpdate = s.Namespaced, s.Status, s.CreateOnUpdate
	k.name, k.prefix = s.name, s.prefix
	k.prepareCreate = func(obj runtime.Object) {
		if s.prepareCreate != nil {
			in := v.keep(obj)
			s.prepareCreate(in)
			assign(obj, v.show(in))
		}
	}
	k.validateCreate = func(obj runtime.Object) field.ErrorList {
		if s.validateCreate == nil {
			return nil
		}
		return s.validateCreate(v.keep(obj))
	}
	k.main, k.status = v.update(s.main), v.update(s.status)
	return k
}

// update makes a way to change stored objects one for objects of this version.
func (v *view) update(u update) update {
	own := update{again: u.again, keeps: u.keeps}
	if u.prepare != nil {
		own.prepare = func(obj, old runtime.Object) {
			in := v.keep(obj)
			u.prepare(in, v.keep(old))
			assign(obj, v.show(in))
		}
	}
	if u.validate != nil {
		own.validate = func(obj, old runtime.Object) field.ErrorList { return u.validate(v.keep(obj), v.keep(old)) }
	}
	return own
}

// assign makes obj what from is; both are of one Go type.
func assign(obj, from runtime.Object) { reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(from).Elem()) }

// between makes the typed conversions of a version.
func between[S, T runtime.Object](stored *Kind, k *Kind, show func(S) T, keep func(T) S) *view {
	return &view{stored: stored,
		show: func(obj runtime.Object) runtime.Object {
			out := show(obj.(S))
			out.GetObjectKind().SetGroupVersionKind(k.GVK)
			return out
		},
		keep: func(obj runtime.Object) runtime.Object {
			out := keep(obj.(T))
			out.GetObjectKind().SetGroupVersionKind(stored.GVK)
			return out
		},
	}
}

// family are all versions of a built-in kind, the stored one first.
func (k *Kind) family() []*Kind {
	s := k
	if k.view != nil {
		s = k.view.stored
	}
	all := []*Kind{s}
	for _, other := range otherVersions {
		if other.view.stored == s {
			all = append(all, other)
		}
	}
	return all
}

// familyConverter is what the field manager has to know of a kind with
// several versions.
type familyConverter struct {
	converter
	family []*Kind
	types  map[reflect.Type]typed.ParseableType
}

func newFamilyConverter(k *Kind, family []*Kind) familyConverter {
	v := familyConverter{converter{k, mergeType(k)}, family, map[reflect.Type]typed.ParseableType{}}
	for _, f := range family {
		v.types[reflect.TypeOf(f.New())] = mergeType(f)
	}
	return v
}

// of finds the version that an object is in.
func (v familyConverter) of(gvk schema.GroupVersionKind) *Kind {
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
	if from.view != nil {
		obj = from.view.keep(obj)
	}
	return v.of(gvk).shown(obj), nil
}
