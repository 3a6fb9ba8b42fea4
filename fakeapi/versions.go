package fakeapi

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// version makes k, of which the Go type and the conversions are set, a version
// of a stored kind in everything else: it changes objects as the stored kind does.
func version(k *row) *row {
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
func between[S, T runtime.Object](stored, k *row, show func(S) T, keep func(T) S) *view {
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

// view makes a kind another version of a kind that is stored: both are shown
// the same objects, each in its own form, from one table.
type view struct {
	stored *row
	// show returns a stored object in this version, keep an object of this
	// version as it is stored. Both leave their argument alone.
	show func(obj runtime.Object) runtime.Object
	keep func(obj runtime.Object) runtime.Object
}
