package fakeapi

import (
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// row is one row of the table of kinds: what the server knows of a kind that
// is not the same for all of them. Its functions know objects, and neither
// requests nor the store.
type row struct {
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
	// Deprecated is what every request for the kind is warned of; "" for most.
	Deprecated string

	view *view // of kinds that are versions of a stored kind
	strategy
}

// strategy holds what differs between kinds in create, update and delete. Nil
// functions do nothing.
type strategy struct {
	// shallow copies the object itself and shares everything it points to.
	shallow func(obj runtime.Object) runtime.Object
	// name is the rule for names; nil is the rule for path segments alone.
	name apivalidation.ValidateNameFunc
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
	// terminate makes the first delete of an object mark it and leave the rest
	// to whoever looks after the kind. It returns the marked object; later
	// deletes go the common way once nothing holds the object.
	terminate func(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object
	// orphanedWarning warns of a delete that orphans because it names no policy.
	orphanedWarning string
	// resetByStatus are further fields that a write to status leaves alone.
	resetByStatus [][]string
	// held: an object being deleted stays although it has no finalizer.
	held func(obj runtime.Object) bool

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
	// again are the checks of metadata that the kind's own validation repeats
	// after the common ones, in its order.
	again []metaCheck
}

// metaCheck is a common check of an object's metadata.
type metaCheck int

// The checks that a create makes, and those that an update makes.
const (
	onCreate metaCheck = iota
	onUpdate
)

// scaling says how a kind's scale subresource reads and writes its objects.
type scaling struct {
	read  func(obj runtime.Object) (want, have int32, selector string)
	write func(obj runtime.Object, want int32) // obj is a shallow copy
	// path is where the replicas are; nil is spec.replicas.
	path []string
	// absent refuses to show an object that has no replicas; nil: all have.
	absent func(obj runtime.Object) error
}

// way returns how a subresource changes an object, nil when it does not exist.
func (k *row) way(subresource string) *update {
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

// nameRule is the rule that names keep.
func (k *row) nameRule() apivalidation.ValidateNameFunc {
	if k.name == nil {
		return pathSegment
	}
	return k.name
}

// storagePrefix is the place of the kind under /registry.
func (k *row) storagePrefix() string {
	if k.prefix != "" {
		return k.prefix
	}
	return k.Resource
}

// empty is an object of the kind with nothing but its type.
func (k *row) empty() runtime.Object {
	obj := k.New()
	obj.GetObjectKind().SetGroupVersionKind(k.GVK)
	return obj
}

// recheck repeats checks of the metadata as often as the kind's own validation
// does: each finding is then a cause of its own in the answer.
func (k *row) recheck(u *update, m, old metav1.Object) (errs field.ErrorList) {
	for _, check := range u.again {
		switch check {
		case onCreate:
			errs = append(errs, apivalidation.ValidateObjectMetaAccessor(m, k.Namespaced, k.nameRule(), metadataPath)...)
		case onUpdate:
			errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(m, old, metadataPath)...)
		}
		errs = append(errs, validateFinalizers(m)...)
	}
	return errs
}
