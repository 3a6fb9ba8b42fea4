package registry

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// On makes a typed function one of the table.
func On[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

// Over makes a typed function of a new and an old object one of the table.
func Over[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) { f(obj.(T), old.(T)) }
}

// Check makes a typed validation one of the table.
func Check[T runtime.Object](f func(T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(obj runtime.Object) field.ErrorList { return f(obj.(T)) }
}

// Compare makes a typed update validation one of the table.
func Compare[T runtime.Object](f func(obj, old T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(obj, old runtime.Object) field.ErrorList { return f(obj.(T), old.(T)) }
}

// Warns makes a typed function that warns of a new object one of the table.
func Warns[T runtime.Object](f func(T) []string) func(runtime.Object) []string {
	return func(obj runtime.Object) []string { return f(obj.(T)) }
}

// WarnsAgain makes the same function warn of an update.
func WarnsAgain[T runtime.Object](f func(T) []string) func(obj, old runtime.Object) []string {
	return func(obj, _ runtime.Object) []string { return f(obj.(T)) }
}

// WarnsChanged is WarnsAgain for an update that made another generation.
func WarnsChanged[T metav1.Object](f func(T) []string) func(obj, old runtime.Object) []string {
	return func(obj, old runtime.Object) []string {
		if o := obj.(any).(T); o.GetGeneration() != old.(any).(T).GetGeneration() {
			return f(o)
		}
		return nil
	}
}

// Recount makes an update that counts a generation when the part that of names is
// another: most kinds count their specs.
func Recount[T metav1.Object, P any](of func(T) P) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, was := obj.(any).(T), old.(any).(T)
		if !equality.Semantic.DeepEqual(of(o), of(was)) {
			o.SetGeneration(was.GetGeneration() + 1)
		}
	}
}

// both does one thing after the other.
func both(one, other func(obj, old runtime.Object)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		one(obj, old)
		other(obj, old)
	}
}

// again makes the validation of a new object that of an update, too.
func again[T runtime.Object](f func(T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(obj, _ runtime.Object) field.ErrorList { return f(obj.(T)) }
}

// orNil is a list as it is read again: one that is empty was not stored.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// first makes an object the first of its generations.
func first(obj runtime.Object) { metadata.Of(obj).SetGeneration(1) }

// orDefault fills in a value that is not given.
func orDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// object is a pointer to a Go type of the API.
type object[T any] interface {
	*T
	runtime.Object
}

// goType sets the functions of a kind that follow from its Go types.
func goType[T, L any, P object[T], PL object[L]](k *Kind) *Kind {
	k.New = func() runtime.Object { return P(new(T)) }
	k.NewList = func() runtime.Object { return PL(new(L)) }
	k.Shallow = func(obj runtime.Object) runtime.Object {
		c := *(obj.(P))
		return P(&c)
	}
	return k
}

// selectorText is a label selector as a scale shows it.
func selectorText(sel *metav1.LabelSelector) string {
	s, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return ""
	}
	return s.String()
}
