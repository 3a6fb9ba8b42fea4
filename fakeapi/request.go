package fakeapi

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Verb is the API verb of a request: "create", "patch" and so on.
type Verb string

// The verbs of [Server.Do]. A watch is not a request; see [Server.Watch].
const (
	Create           Verb = "create"
	Get              Verb = "get"
	List             Verb = "list"
	Update           Verb = "update"
	Patch            Verb = "patch"
	Delete           Verb = "delete"
	DeleteCollection Verb = "deletecollection"
)

// Request is a decoded API request. The comment of a field names the verbs that use it. The server does not change or
// keep the objects of a request.
type Request struct {
	Verb        Verb
	Kind        *Kind  // a kind of the server; see [Server.Kind]
	Subresource string // "", "status", "scale", ...
	Namespace   string // "" for cluster-scoped kinds, and to list all namespaces
	Name        string // "" for list, deletecollection, and a create with generateName

	Object    runtime.Object  // for create and update
	PatchType types.PatchType // for patch
	Patch     []byte          // for patch

	Create metav1.CreateOptions
	Update metav1.UpdateOptions
	Delete metav1.DeleteOptions // for delete and deletecollection
	PatchO metav1.PatchOptions
	List   metav1.ListOptions // for list and deletecollection

	User      string // "" for the administrator
	UserAgent string // names the field manager if the options do not
}

// Response is the response to a request. Its objects are shared: do not change them. Comments name the verbs that set a
// field.
type Response struct {
	Object   runtime.Object   // set by create, get, update, patch and delete
	Items    []runtime.Object // set by list and deletecollection: the objects in key order
	Version  uint64           // set by list: the revision of the list
	Continue string           // set by list: the token for the next page
	Left     *int64           // set by list: the number of items after this page
	Code     int              // HTTP status
	Err      *apierrors.StatusError
	Warnings []string

	later func(r *Response) // calls conversion webhooks; see Finish
}

// Finish calls the conversion webhooks that the response still needs. [Server.Do] leaves these calls to its caller,
// which can unlock the server first.
func (r *Response) Finish() {
	if later := r.later; later != nil {
		r.later = nil
		later(r)
	}
}

// Event is a change of one object. Before is nil for a create, After for a removal.
type Event struct {
	Kind    *Kind
	Key     string // namespace/name, or name
	Version uint64 // the revision of the change
	Before  runtime.Object
	After   runtime.Object
	// Last is the last state of a removed object, with the revision of the removal.
	Last runtime.Object
}
