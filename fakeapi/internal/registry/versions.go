package registry

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// version completes the row k, whose version is not the storage version. k has a Go type, rules and conversions.
func version(k *Row) *Row {
	s, v := k.View.Stored, k.View
	k.Resource, k.Singular, k.ShortNames, k.Categories = s.Resource, s.Singular, s.ShortNames, s.Categories
	k.Namespaced, k.Status, k.CreateOnUpdate = s.Namespaced, s.Status, s.CreateOnUpdate
	k.Prefix = s.Prefix
	k.PrepareCreate = func(obj runtime.Object) {
		if s.PrepareCreate != nil {
			in := v.Keep(obj)
			s.PrepareCreate(in)
			assign(obj, v.Show(in))
		}
	}
	v.prepare(&k.Main, &s.Main)
	v.prepare(&k.ForStatus, &s.ForStatus)
	return k
}

// prepare sets own.Prepare to a function that converts the objects to the storage version, calls stored.Prepare, and
// converts the result back.
func (v *View) prepare(own, stored *Update) {
	own.Keeps = stored.Keeps
	if stored.Prepare != nil {
		own.Prepare = func(obj, old runtime.Object, now time.Time) {
			in := v.Keep(obj)
			stored.Prepare(in, v.Keep(old), now)
			assign(obj, v.Show(in))
		}
	}
}

func assign(obj, from runtime.Object) { reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(from).Elem()) }

// between returns the View between the kind k and its storage version, from the conversions show and keep.
func between[S, T runtime.Object](stored, k *Row, show func(S) T, keep func(T) S) *View {
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

// through returns a conversion from version A to version B, by way of the internal type I.
func through[A, I, B any, P interface {
	*A
	DeepCopy() *A
}](in func(*A, *I, conversion.Scope) error, out func(*I, *B, conversion.Scope) error) func(P) *B {
	return func(obj P) *B {
		hub, made := new(I), new(B)
		err := in(obj.DeepCopy(), hub, nil)
		if err == nil {
			err = out(hub, made, nil)
		}
		if err != nil {
			panic("fakeapi: an object has no other version: " + err.Error())
		}
		return made
	}
}
