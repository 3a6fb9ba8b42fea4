package fakeapi

import (
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kind is one row of the table of kinds: everything the server knows about a
// kind that is not the same for all of them.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string   // plural: "pods"
	Singular   string   // "pod"
	ShortNames []string // "po"
	Categories []string // "all"
	Namespaced bool
	New        func() runtime.Object // an empty object of the Go type
	NewList    func() runtime.Object

	// Default fills in defaults on create and update, as the API's conversion does.
	Default func(obj runtime.Object)
	// OrphanByDefault: a delete that names no policy orphans (GCPOLICY-1, GCPOLICY-2).
	OrphanByDefault bool
	// Status says whether the kind has a status subresource.
	Status bool
	// ReturnDeleted: a delete answers with the object, not with a Status.
	ReturnDeleted bool
	// MustVersion: an update has to say which resourceVersion it is based on.
	MustVersion bool
	// CreateOnUpdate: an update of an object that does not exist creates it.
	CreateOnUpdate bool

	managers managers
	custom   *custom // of kinds that a definition defines
	view     *view   // of kinds that are versions of a stored kind
	ordinal  int     // index of the kind's table in a server
	strategy
}

// GVR is the kind's group, version and resource.
func (k *Kind) GVR() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Resource)
}

func (k *Kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}
}

// Selectable returns the fields of an object that a field selector may name.
func (k *Kind) Selectable(obj runtime.Object) fields.Set {
	m := obj.(metav1.Object)
	set := fields.Set{"metadata.name": m.GetName()}
	if k.Namespaced {
		set["metadata.namespace"] = m.GetNamespace()
	}
	if k.selectable != nil {
		k.selectable(obj, set)
	}
	return set
}

// strategy holds what differs between kinds in create, update and delete. Nil
// functions do nothing.
type strategy struct {
	// shallow copies the object itself and shares everything it points to.
	shallow func(obj runtime.Object) runtime.Object
	// name is the rule for names; nil is the rule for path segments alone.
	name validation.ValidateNameFunc
	// admit changes an object on its way in, on create and update (old nil on create).
	admit func(obj, old runtime.Object) error

	prepareCreate  func(obj runtime.Object)
	validateCreate func(obj runtime.Object) field.ErrorList
	warnCreate     func(obj runtime.Object) []string
	canonicalize   func(obj runtime.Object)
	// readDefault fills in what a read defaults from what a create made. It
	// says whether there was anything to fill in.
	readDefault func(obj runtime.Object) bool

	scale *scaling // nil: no scale subresource

	main   update
	status update
	other  map[string]*update // further subresources that are updates of the object

	// grace makes the kind one that is deleted gracefully: the seconds left to obj.
	grace func(obj runtime.Object, asked *int64) int64
	// remove replaces the common way to delete, unless it leaves handled false.
	remove func(c *call, old *entry, opts *metav1.DeleteOptions) (obj runtime.Object, gone, handled bool, err error)
	// orphanedWarning warns of a delete that orphans because it names no policy.
	orphanedWarning string
	// resetByStatus are further fields that a write to status leaves alone.
	resetByStatus [][]string
	// held: an object being deleted stays although it has no finalizer.
	held func(obj runtime.Object) bool
	// follow is what the server does by itself after a request that changed something.
	follow func(c *call)

	prefix string // under /registry, when it is not the resource

	selectable     func(obj runtime.Object, set fields.Set)
	selectableKeys []string // besides metadata.name and metadata.namespace
}

// update is one way to change an object: by itself or through a subresource.
type update struct {
	prepare  func(obj, old runtime.Object)
	validate func(obj, old runtime.Object) field.ErrorList
	warn     func(obj, old runtime.Object) []string
	// keeps says that prepare does nothing to an edit that changed only metadata.
	keeps bool
	// again names the checks of metadata that the kind's own validation repeats
	// after the common ones: m as on create, u as on update.
	again string
}

// way returns how a subresource changes an object, nil when it does not exist.
func (k *Kind) way(subresource string) *update {
	switch subresource {
	case "":
		return &k.main
	case "status":
		if k.Status {
			return &k.status
		}
		return nil
	}
	return k.other[subresource]
}

// on makes a typed function one of the table.
func on[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

// over makes a typed function of a new and an old object one of the table.
func over[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) { f(obj.(T), old.(T)) }
}

// check makes a typed validation one of the table.
func check[T runtime.Object](f func(T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(obj runtime.Object) field.ErrorList { return f(obj.(T)) }
}

// compare makes a typed update validation one of the table.
func compare[T runtime.Object](f func(obj, old T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(obj, old runtime.Object) field.ErrorList { return f(obj.(T), old.(T)) }
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
	k.shallow = func(obj runtime.Object) runtime.Object {
		c := *(obj.(P))
		return P(&c)
	}
	return k
}

// seconds cuts a time of day as the API's encoding does.
func seconds(now time.Time) metav1.Time { return metav1.Time{Time: now.UTC().Truncate(time.Second)} }
