package registry

import (
	"cmp"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Row is a row of the table of kinds. Its functions may be nil. They work on objects, and know no requests or store.
type Row struct {
	GVK        schema.GroupVersionKind
	Resource   string   // plural: "pods"
	Singular   string   // "pod"
	ShortNames []string // "po"
	Categories []string // "all"
	Namespaced bool
	New        func() runtime.Object // returns an empty object of the Go type
	NewList    func() runtime.Object
	// Shallow returns a copy of the object that shares everything that the object points to.
	Shallow func(obj runtime.Object) runtime.Object

	// Default sets defaults on create and update, like the conversion in the real server.
	Default func(obj runtime.Object)
	// Judged, if set, returns the error of converting an object to the type that validation uses.
	Judged func(obj runtime.Object) error
	// OrphanByDefault is set if a delete without a policy orphans dependents (GCPOLICY-1, GCPOLICY-2).
	OrphanByDefault bool
	// NoPolicy is set if a delete ignores the propagation policy, because objects of the kind have no dependents.
	NoPolicy bool
	// Status is set if the kind has a status subresource.
	Status bool
	// ReturnDeleted is set if the response to a delete is the object, not a Status.
	ReturnDeleted bool
	// MustVersion is set if an update must have a resourceVersion.
	MustVersion bool
	// CreateOnUpdate is set if an update creates a missing object.
	CreateOnUpdate bool
	// NamesItself is set if a new object without a name gets a random UUID as its name.
	NamesItself bool
	// Deprecated is the warning in responses to all requests for the kind; "" for most kinds.
	Deprecated string

	// Counts is the Go field that increases the generation when it changes; "" if the kind has no generation.
	Counts string
	// Exactly is set if a change from a missing to an empty list in Counts, or the reverse, increases the generation.
	Exactly bool
	// StatusOnCreate is set if a create keeps the object's status.
	StatusOnCreate bool
	// StatusOnly is set if a write to the status cannot change metadata.
	StatusOnly bool

	// Admit is an admission plugin that changes an object on create (old is nil) and on update.
	Admit  func(obj, old runtime.Object) error
	Plugin string
	// Begin returns the errors that are checked before all others, on create (old is nil) and on update.
	Begin         func(obj, old runtime.Object) field.ErrorList
	PrepareCreate func(obj runtime.Object)
	// Dry changes the object in the response to a dry-run create.
	Dry func(obj runtime.Object)
	// By sets the fields of an object that name the user who creates it.
	By func(obj runtime.Object, user *authenticationv1.UserInfo)
	// Create returns the errors in a new object.
	Create       validation.Judge
	Canonicalize func(obj runtime.Object)
	// ReadDefault sets the defaults that the real server sets on reads. It reports whether it set any.
	ReadDefault func(obj runtime.Object) bool

	Main      Update
	ForStatus Update
	other     map[string]*Update // by name: other subresources that change the object
	Scale     *Scaling           // nil: no scale subresource

	// Grace returns the grace period in seconds. It is set if the kind has graceful deletion.
	Grace func(obj runtime.Object, asked *int64) int64
	// Terminate returns the object that the first delete stores. A later delete removes it, unless Held returns true.
	Terminate func(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object
	// OrphanedWarning is the warning about a delete without a policy if the default policy orphans dependents.
	OrphanedWarning string
	// Held reports whether a terminating object stays although its metadata has no finalizers.
	Held func(obj runtime.Object) bool

	// ResetByStatus lists the fields, in addition to spec, that a write to the status cannot change.
	ResetByStatus [][]any
	// ResetByMain lists the fields, in addition to status, that a write to the main resource cannot change.
	ResetByMain [][]any

	Prefix string // path under /registry, if it differs from Resource

	Selectable     func(obj runtime.Object, set fields.Set)
	SelectableKeys []string // in addition to metadata.name and metadata.namespace

	View *View // set if the kind is stored in another version
}

// Update is a way to change an object: by the main resource or a subresource.
type Update struct {
	Prepare func(obj, old runtime.Object, now time.Time)
	// Judge returns the errors in the new object, and warnings.
	Judge validation.Judge
	// Keeps is set if Prepare does nothing for a change of only metadata.
	Keeps bool
	// Owns lists the fields that writes to a subresource may own; nil means all except spec. A nil path element matches
	// every element.
	Owns [][]any
	// MetadataToo is set if the kind has rules for metadata. A change of only metadata is then also checked.
	MetadataToo bool
}

// Scaling reads and writes an object for its scale subresource.
type Scaling struct {
	Read  func(obj runtime.Object) (want, have int32, selector string)
	Write func(obj runtime.Object, want int32) // obj is a shallow copy
	// Absent returns an error if the object's spec has no replicas. It is nil for kinds that always have replicas.
	Absent func(obj runtime.Object) error
}

// Way returns the rules for changes by a subresource; nil if the subresource does not exist or cannot be updated.
func (k *Row) Way(subresource string) *Update {
	switch subresource {
	case "":
		return &k.Main
	case "status":
		if k.Status {
			return &k.ForStatus
		}
		return nil
	}
	return k.other[subresource]
}

// StoragePrefix returns the path of the kind's objects under /registry.
func (k *Row) StoragePrefix() string { return cmp.Or(k.Prefix, k.Resource) }

// Empty returns an object of the kind with only apiVersion and kind set.
func (k *Row) Empty() runtime.Object {
	obj := k.New()
	obj.GetObjectKind().SetGroupVersionKind(k.GVK)
	return obj
}

// View converts between a version of a kind and the storage version.
type View struct {
	Stored *Row
	// Show converts a stored object to this version, and Keep converts an object of this version to the storage
	// version. They do not change their argument.
	Show func(obj runtime.Object) runtime.Object
	Keep func(obj runtime.Object) runtime.Object
	// Labels maps the selectable fields of this version to fields of the stored version; nil if they are equal.
	Labels map[string]string
}
