package fakeapi

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Verb is the API verb of a request: "create", "patch" and so on.
type Verb string

// The verbs [Server.Do] knows. A watch is not a request: see [Server.Since].
const (
	Create           Verb = "create"
	Get              Verb = "get"
	List             Verb = "list"
	Update           Verb = "update"
	Patch            Verb = "patch"
	Delete           Verb = "delete"
	DeleteCollection Verb = "deletecollection"
)

// Request is one decoded API request. The server neither changes nor keeps its objects.
type Request struct {
	Verb        Verb
	Kind        *Kind  // from the server's table; see [Server.Kind]
	Subresource string // "", "status", "scale", ...
	Namespace   string // "" for cluster-scoped kinds and lists over all namespaces
	Name        string // "" for create with generateName, list, deletecollection

	Object    runtime.Object  // create, update
	PatchType types.PatchType // patch
	Patch     []byte          // patch

	Create metav1.CreateOptions
	Update metav1.UpdateOptions
	Delete metav1.DeleteOptions // delete, deletecollection
	PatchO metav1.PatchOptions
	List   metav1.ListOptions // list, deletecollection

	User      string // the user who sends it; "" is the administrator
	UserAgent string // default field manager
}

// Response is the response to one request. Its objects are stored versions: immutable and shared.
type Response struct {
	Object   runtime.Object   // create, get, update, patch, delete
	Items    []runtime.Object // list, deletecollection: in key order
	Version  uint64           // list: the revision it was read at
	Continue string           // list: token for the rest
	Left     *int64           // list: remaining item count
	Code     int              // HTTP status
	Err      *apierrors.StatusError
	Warnings []string

	later func(r *Response) // the work that is left after the server has answered
}

// Finish calls the conversion webhooks that a response needs. [Server.Do] leaves this to the caller, which may unlock
// the server first. Before Finish, the response is incomplete.
func (r *Response) Finish() {
	if later := r.later; later != nil {
		r.later = nil
		later(r)
	}
}

// Event is one change to one object. Events are in commit order. After is nil for a removal, Before for a create.
type Event struct {
	Kind    *Kind
	Key     string // namespace/name, or name
	Version uint64 // the revision of the change
	Before  runtime.Object
	After   runtime.Object
	// Last is the last state of a removed object, with the revision of the removal.
	Last runtime.Object
}
