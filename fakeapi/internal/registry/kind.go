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

// Row is a row of the table of kinds. Its functions know objects, but neither requests nor the store. A nil function
// does nothing.
type Row struct {
	GVK        schema.GroupVersionKind
	Resource   string   // plural: "pods"
	Singular   string   // "pod"
	ShortNames []string // "po"
	Categories []string // "all"
	Namespaced bool
	New        func() runtime.Object // an empty object of the Go type
	NewList    func() runtime.Object
	// Shallow copies the object itself and shares everything that it points to.
	Shallow func(obj runtime.Object) runtime.Object

	// Default fills in defaults on create and update, as the API's conversion does.
	Default func(obj runtime.Object)
	// Judged returns the error of converting an object to the form that is validated; nil if there is none.
	Judged func(obj runtime.Object) error
	// OrphanByDefault: a delete without a policy orphans (GCPOLICY-1, GCPOLICY-2).
	OrphanByDefault bool
	// NoPolicy: a delete ignores the propagation policy, because the kind's objects have no dependents.
	NoPolicy bool
	// Status says whether the kind has a status subresource.
	Status bool
	// ReturnDeleted: the response to a delete is the object, not a Status.
	ReturnDeleted bool
	// MustVersion: an update must have a resourceVersion.
	MustVersion bool
	// CreateOnUpdate: an update of an object that does not exist creates it.
	CreateOnUpdate bool
	// NamesItself: a new object without a name gets a random UUID as its name.
	NamesItself bool
	// Deprecated is the warning for every request for the kind; "" for most kinds.
	Deprecated string

	// Counts is the Go field whose changes increase the generation; "" for a kind without generations.
	Counts string
	// Exactly: for Counts, an empty list differs from a missing list.
	Exactly bool
	// StatusOnCreate: a create keeps the object's status.
	StatusOnCreate bool
	// StatusOnly: a write to the status changes no metadata.
	StatusOnly bool

	// Admit is an admission plugin that changes an object on create (old is nil) and update.
	Admit  func(obj, old runtime.Object) error
	Plugin string
	// Begin refuses an object before all other checks, on create (old is nil) and update.
	Begin         func(obj, old runtime.Object) field.ErrorList
	PrepareCreate func(obj runtime.Object)
	// Dry changes the response to a dry-run create.
	Dry func(obj runtime.Object)
	// By records the user that creates an object.
	By func(obj runtime.Object, user *authenticationv1.UserInfo)
	// Create validates a new object.
	Create       validation.Judge
	Canonicalize func(obj runtime.Object)
	// ReadDefault sets the defaults of reads, and reports whether it set any.
	ReadDefault func(obj runtime.Object) bool

	Main      Update
	ForStatus Update
	other     map[string]*Update // further subresources that update the object
	Scale     *Scaling           // nil: no scale subresource

	// Grace returns the grace period in seconds, for a kind with graceful deletion.
	Grace func(obj runtime.Object, asked *int64) int64
	// Terminate handles the first delete, and returns the marked object. A later delete is an ordinary one as soon as
	// Held returns false.
	Terminate func(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object
	// OrphanedWarning is the warning for a delete that orphans dependents because it names no policy.
	OrphanedWarning string
	// Held reports whether a terminating object stays even without finalizers.
	Held func(obj runtime.Object) bool

	// ResetByStatus are further fields that a write to status does not change.
	ResetByStatus [][]any
	// ResetByMain are further fields that a write to the object itself does not change.
	ResetByMain [][]any

	Prefix string // under /registry, if it differs from the resource

	Selectable     func(obj runtime.Object, set fields.Set)
	SelectableKeys []string // besides metadata.name and metadata.namespace

	View *View // set for another version of a stored kind
}

// Update is one way to change an object: directly or through a subresource.
type Update struct {
	Prepare func(obj, old runtime.Object, now time.Time)
	// Judge validates the new object and returns warnings.
	Judge validation.Judge
	// Keeps says that Prepare changes nothing if only metadata changed.
	Keeps bool
	// Owns are the fields that writes to a subresource may own; nil: all except spec. A nil path element matches any.
	Owns [][]any
	// MetadataToo says that the kind's own rules depend on metadata. They are then checked even if only metadata
	// changes.
	MetadataToo bool
}

// Scaling says how a kind's scale subresource reads and writes its objects.
type Scaling struct {
	Read  func(obj runtime.Object) (want, have int32, selector string)
	Write func(obj runtime.Object, want int32) // obj is a shallow copy
	// Absent returns the error for an object without replicas; nil if all objects have them.
	Absent func(obj runtime.Object) error
}

// Way returns how a subresource changes an object, or nil if the subresource does not exist.
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

// StoragePrefix returns the kind's path under /registry.
func (k *Row) StoragePrefix() string { return cmp.Or(k.Prefix, k.Resource) }

// Empty returns an object of the kind that has only its type.
func (k *Row) Empty() runtime.Object {
	obj := k.New()
	obj.GetObjectKind().SetGroupVersionKind(k.GVK)
	return obj
}

// View makes a kind another version of a stored kind. Both have the same objects.
type View struct {
	Stored *Row
	// Show converts a stored object to this version. Keep converts an object of this version to the stored one. Neither
	// changes its argument.
	Show func(obj runtime.Object) runtime.Object
	Keep func(obj runtime.Object) runtime.Object
	// Labels maps the selectable fields of this version to those of the stored version; nil if they are equal.
	Labels map[string]string
}
