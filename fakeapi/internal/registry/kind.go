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

// Row holds the rules of one kind. Its functions may be nil. They get only objects, not requests or stored data.
type Row struct {
	GVK        schema.GroupVersionKind
	Resource   string   // plural, such as "pods"
	Singular   string   // such as "pod"
	ShortNames []string // such as "po"
	Categories []string // such as "all"
	Namespaced bool
	New        func() runtime.Object // returns an empty object of the Go type
	NewList    func() runtime.Object
	// Shallow returns a copy of the object that shares everything that the object points to.
	Shallow func(obj runtime.Object) runtime.Object

	// Default sets defaults on create and update. The real server does this when it decodes an object.
	Default func(obj runtime.Object)
	// Judged, if set, returns an error for an object that cannot be converted to the type that validation uses.
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

	// Counts names the Go field whose change increases the generation, such as "Spec"; "" for no generation.
	Counts string
	// Exactly is set if the generation also increases when an empty list replaces a missing list, or the reverse.
	Exactly bool
	// StatusOnCreate is set if a create keeps the object's status.
	StatusOnCreate bool
	// StatusOnly is set if a write to the status cannot change metadata.
	StatusOnly bool

	// Admit is an admission plugin that changes an object on create (old is nil) and on update.
	Admit  func(obj, old runtime.Object) error
	Plugin string
	// Begin returns errors on create (old is nil) and on update. If there are any, nothing else is validated.
	Begin         func(obj, old runtime.Object) field.ErrorList
	PrepareCreate func(obj runtime.Object)
	// Dry changes the object for the response to a dry-run create.
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
	other     map[string]*Update // rules for writes to other subresources, such as approval, by name
	Scale     *Scaling           // nil if the kind has no scale subresource

	// Grace returns the grace period in seconds. asked is the requested one. Grace is nil without graceful deletion.
	Grace func(obj runtime.Object, asked *int64) int64
	// Terminate returns the object that the first delete stores. A later delete removes it, unless Held returns true.
	Terminate func(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object
	// OrphanedWarning is the warning about a delete that orphans dependents only because it sets no policy.
	OrphanedWarning string
	// Held reports whether a terminating object stays although its metadata has no finalizers.
	Held func(obj runtime.Object) bool

	// ResetByStatus lists the fields, in addition to spec, that a write to the status cannot change.
	ResetByStatus [][]any
	// ResetByMain lists the fields, in addition to status, that a write to the main resource cannot change.
	ResetByMain [][]any

	Prefix string // path under /registry, if it differs from Resource

	Selectable     func(obj runtime.Object, set fields.Set)
	SelectableKeys []string // the fields besides metadata.name and metadata.namespace

	View *View // set if the kind is stored in another version
}

// Update holds the rules for writes to the main resource, or to one subresource.
type Update struct {
	Prepare func(obj, old runtime.Object, now time.Time)
	// Judge returns the errors in the new object, and warnings.
	Judge validation.Judge
	// Keeps is set if Prepare does nothing when only metadata changes.
	Keeps bool
	// Owns lists the paths of the fields that field managers can own after this write. If it is nil, they can own all
	// fields except spec. In a path, nil matches every element.
	Owns [][]any
	// MetadataToo is set if the kind has rules for metadata. A change of only metadata is then also checked.
	MetadataToo bool
}

// Scaling reads and writes an object for its scale subresource.
type Scaling struct {
	Read  func(obj runtime.Object) (want, have int32, selector string)
	Write func(obj runtime.Object, want int32) // obj is a shallow copy of the stored object
	// Absent returns an error if the object's spec has no replicas. It is nil for kinds that always have replicas.
	Absent func(obj runtime.Object) error
}

// Way returns the rules for writes to a subresource; nil if the subresource does not exist or cannot be updated.
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
	// Show converts a stored object to this version. Keep converts an object of this version to the storage version.
	// Neither changes its argument.
	Show func(obj runtime.Object) runtime.Object
	Keep func(obj runtime.Object) runtime.Object
	// Labels maps names of selectable fields in this version to names in the storage version; nil if all are equal.
	Labels map[string]string
}
