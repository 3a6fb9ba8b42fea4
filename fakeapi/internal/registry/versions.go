package registry

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// version makes k, of which the Go type and the conversions are set, a version
// of a stored kind in everything else: it changes objects as the stored kind does.
func version(k *Kind) *Kind {
	s, v := k.View.Stored, k.View
	k.Resource, k.Singular, k.ShortNames, k.Categories = s.Resource, s.Singular, s.ShortNames, s.Categories
	k.Namespaced, k.Status, k.CreateOnUpdate = s.Namespaced, s.Status, s.CreateOnUpdate
	k.NameRule, k.Prefix = s.NameRule, s.Prefix
	k.PrepareCreate = func(obj runtime.Object) {
		if s.PrepareCreate != nil {
			in := v.Keep(obj)
			s.PrepareCreate(in)
			assign(obj, v.Show(in))
		}
	}
	k.ValidateCreate = func(obj runtime.Object) field.ErrorList {
		if s.ValidateCreate == nil {
			return nil
		}
		return s.ValidateCreate(v.Keep(obj))
	}
	k.Main, k.ForStatus = v.update(s.Main), v.update(s.ForStatus)
	return k
}

// update makes a way to change stored objects one for objects of this version.
func (v *View) update(u Update) Update {
	own := Update{again: u.again, after: u.after, Keeps: u.Keeps}
	if u.Prepare != nil {
		own.Prepare = func(obj, old runtime.Object) {
			in := v.Keep(obj)
			u.Prepare(in, v.Keep(old))
			assign(obj, v.Show(in))
		}
	}
	if u.Validate != nil {
		own.Validate = func(obj, old runtime.Object) field.ErrorList { return u.Validate(v.Keep(obj), v.Keep(old)) }
	}
	if u.Last != nil {
		own.Last = func(obj, old runtime.Object) field.ErrorList { return u.Last(v.Keep(obj), v.Keep(old)) }
	}
	return own
}

// assign makes obj what from is; both are of one Go type.
func assign(obj, from runtime.Object) { reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(from).Elem()) }

// between makes the typed conversions of a version.
func between[S, T runtime.Object](stored, k *Kind, show func(S) T, keep func(T) S) *View {
	return &View{Stored: stored,
		Show: func(obj runtime.Object) runtime.Object {
			out := show(obj.(S))
			out.GetObjectKind().SetGroupVersionKind(k.GVK)
			return out
		},
		Keep: func(obj runtime.Object) runtime.Object {
			out := keep(obj.(T))
			out.GetObjectKind().SetGroupVersionKind(stored.GVK)
			return out
		},
	}
}
