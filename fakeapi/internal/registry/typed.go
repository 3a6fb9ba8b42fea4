package registry

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/resources"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

type object[T any] interface {
	*T
	runtime.Object
}

// kind completes a row with the names and the scope of the real server's resource, and with the functions of
// [Row.common]. These run before the row's own functions, except that an update sets the generation last.
func kind[T, L any, P object[T], PL object[L]](gv schema.GroupVersion, rules validation.Judges, k *Row) *Row {
	goType[T, L, P, PL](gv, k)
	r := resources.OfKind(k.GVK)
	k.Resource, k.Singular, k.ShortNames, k.Categories = r.Name, r.Singular, r.ShortNames, r.Categories
	k.Namespaced, k.Status = r.Namespaced, r.Serves("status")
	k.Create, k.Main.Judge, k.ForStatus.Judge = rules.Create, rules.Update, rules.Status
	k.common(reflect.TypeFor[T]())
	return k
}

// goType sets the fields of a row that depend only on the kind's Go types.
func goType[T, L any, P object[T], PL object[L]](gv schema.GroupVersion, k *Row) *Row {
	k.GVK = gv.WithKind(reflect.TypeFor[T]().Name())
	k.New = func() runtime.Object { return P(new(T)) }
	k.NewList = func() runtime.Object { return PL(new(L)) }
	k.Shallow = func(obj runtime.Object) runtime.Object {
		c := *(obj.(P))
		return P(&c)
	}
	return k
}

// common adds the behavior that most kinds share. A create clears the status and sets the generation to 1. An update
// keeps the status, and increments the generation if the field in Counts changes. A status write keeps the spec.
func (k *Row) common(t reflect.Type) {
	field := func(name string) func(obj runtime.Object) reflect.Value {
		f, ok := t.FieldByName(name)
		if !ok {
			return nil
		}
		return func(obj runtime.Object) reflect.Value { return reflect.ValueOf(obj).Elem().Field(f.Index[0]) }
	}
	spec, status, counted := field("Spec"), field("Status"), field(k.Counts)
	create, update, forStatus := k.PrepareCreate, k.Main.Prepare, k.ForStatus.Prepare
	if k.Status && !k.StatusOnCreate || counted != nil {
		k.PrepareCreate = func(obj runtime.Object) {
			if k.Status && !k.StatusOnCreate {
				status(obj).SetZero()
			}
			if counted != nil {
				metadata.Of(obj).SetGeneration(1)
			}
			if create != nil {
				create(obj)
			}
		}
	}
	if k.Status || counted != nil {
		k.Main.Keeps = k.Main.Keeps || update == nil
		k.Main.Prepare = func(obj, old runtime.Object, now time.Time) {
			if k.Status {
				status(obj).Set(status(old))
			}
			if update != nil {
				update(obj, old, now)
			}
			if counted != nil && k.differ(counted(obj), counted(old)) {
				metadata.Of(obj).SetGeneration(metadata.Of(old).GetGeneration() + 1)
			}
		}
	}
	if !k.Status {
		return
	}
	k.ForStatus.Keeps = k.ForStatus.Keeps || forStatus == nil && !k.StatusOnly
	k.ForStatus.Prepare = func(obj, old runtime.Object, now time.Time) {
		spec(obj).Set(spec(old))
		if k.StatusOnly {
			metav1.ResetObjectMetaForStatus(metadata.Of(obj), metadata.Of(old))
		}
		if forStatus != nil {
			forStatus(obj, old, now)
		}
	}
	if k.StatusOnly {
		k.ResetByStatus = wholeMetadata
	}
}

// wholeMetadata is the value of ResetByStatus for kinds with StatusOnly.
var wholeMetadata = [][]any{{"metadata"}}

func (k *Row) differ(now, was reflect.Value) bool {
	a, b := now.Addr().Interface(), was.Addr().Interface()
	if k.Exactly {
		return !reflect.DeepEqual(a, b)
	}
	return !same.Value(a.(same.Encoded), b.(same.Encoded))
}

// On converts a function with a typed argument to a function for the fields of [Row].
func On[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

// Over converts a function of the new and the old object, with their Go type, to a function for [Update].
func Over[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object, now time.Time) {
	return func(obj, old runtime.Object, _ time.Time) { f(obj.(T), old.(T)) }
}

// at does the same as [Over] for a function that also gets the current time.
func at[T runtime.Object](f func(obj, old T, now metav1.Time)) func(obj, old runtime.Object, now time.Time) {
	return func(obj, old runtime.Object, now time.Time) { f(obj.(T), old.(T), metadata.Seconds(now)) }
}

// selects converts a function with a typed argument to a function for [Row].Selectable.
func selects[T runtime.Object](f func(obj T, set fields.Set)) func(runtime.Object, fields.Set) {
	return func(obj runtime.Object, set fields.Set) { f(obj.(T), set) }
}

// scaled returns the Scaling of a kind. parts returns an object's wanted replicas, current replicas and selector.
func scaled[T runtime.Object](parts func(obj T) (want **int32, have int32, selector *metav1.LabelSelector)) *Scaling {
	return &Scaling{
		Read: func(obj runtime.Object) (int32, int32, string) {
			want, have, selector := parts(obj.(T))
			s, err := metav1.LabelSelectorAsSelector(selector)
			if err != nil {
				return **want, have, ""
			}
			return **want, have, s.String()
		},
		Write: func(obj runtime.Object, n int32) {
			want, _, _ := parts(obj.(T))
			*want = &n
		},
	}
}

// asStored sets empty lists and maps to nil, because the real server does not store them.
func asStored(obj runtime.Object) { dropEmpty(reflect.ValueOf(obj)) }

func dropEmpty(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dropEmpty(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				dropEmpty(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.SetZero()
		}
		for i := range v.Len() {
			dropEmpty(v.Index(i))
		}
	case reflect.Map:
		if v.Len() == 0 {
			v.SetZero()
		}
	}
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func mapOrNil[T any](m map[string]T) map[string]T {
	if len(m) == 0 {
		return nil
	}
	return m
}
