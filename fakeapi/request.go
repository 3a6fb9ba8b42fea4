package fakeapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/metapatch"
)

// Verb is what a request does. The strings are the API's own.
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
	Kind        *Kind  // of the server's table; see [Server.Kind]
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

	User      string // who asks; "" is the administrator
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

	later func(r *Response) // what is to be done without the server
}

// Finish calls the conversion webhooks that a response needs. [Server.Do] leaves this to the caller, who may release
// the server first. Before Finish, the response is incomplete.
func (r *Response) Finish() {
	if later := r.later; later != nil {
		r.later = nil
		later(r)
	}
}

// Event is one change to one object, in commit order. After is nil for a removal, Before for a create.
type Event struct {
	Kind    *Kind
	Key     string // namespace/name, or name
	Version uint64 // the revision of the change
	Before  runtime.Object
	After   runtime.Object
	// Last is the last state of a removed object, with the revision of the removal.
	Last runtime.Object
}

// Preconditions returns the uid and resourceVersion that a write requires, from its options or body; "" for none.
func (r *Request) Preconditions() (uid types.UID, resourceVersion string) {
	switch r.Verb {
	case Delete:
		if p := r.Delete.Preconditions; p != nil {
			return types.UID(value(p.UID)), value(p.ResourceVersion)
		}
	case Update:
		if m, ok := r.Object.(metav1.Object); ok {
			return m.GetUID(), m.GetResourceVersion()
		}
	case Patch:
		return patchPreconditions(r.PatchType, r.Patch)
	}
	return "", ""
}

func value[S ~string](p *S) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// patchPreconditions returns the preconditions in a patch. An unreadable patch has none and is refused later.
func patchPreconditions(form types.PatchType, patch []byte) (uid types.UID, resourceVersion string) {
	if !mayName(patch, "uid") && !mayName(patch, "resourceVersion") {
		return "", ""
	}
	switch form {
	case types.JSONPatchType:
		return operationPreconditions(patch)
	case types.ApplyPatchType:
		body, err := yaml.YAMLToJSON(patch)
		if err != nil {
			return "", ""
		}
		patch = body
	default:
		if p, ok := metapatch.Parse(patch, form == types.StrategicMergePatchType); ok {
			uid, version := p.Names()
			return types.UID(uid), version
		}
	}
	if names := (named{}); bytes.Count(patch, []byte("metadata")) == 1 && bytes.IndexByte(patch, '\\') < 0 &&
		kjson.UnmarshalCaseSensitivePreserveInts(patch, &names) == nil {
		return namesIn(names.Metadata)
	}
	var body map[string]json.RawMessage
	var metadata map[string]any
	if json.Unmarshal(patch, &body) != nil || json.Unmarshal(body["metadata"], &metadata) != nil {
		return "", ""
	}
	return namesIn(metadata)
}

type named struct {
	Metadata map[string]any `json:"metadata"`
}

// namesIn returns the uid and the resourceVersion in metadata. The last of duplicate fields counts, as when the patch
// is applied.
func namesIn(metadata any) (uid types.UID, resourceVersion string) {
	fields, _ := metadata.(map[string]any)
	name, _ := fields["uid"].(string)
	resourceVersion, _ = fields["resourceVersion"].(string)
	return types.UID(name), resourceVersion
}

// mayName reports whether a text contains the field's name, or an escape that could spell it.
func mayName(text []byte, field string) bool {
	return bytes.Contains(text, []byte(field)) || bytes.IndexByte(text, '\\') >= 0
}

// operationPreconditions returns those of a JSON patch: operations that test or set the field, alone or with all
// metadata.
func operationPreconditions(patch []byte) (uid types.UID, resourceVersion string) {
	var operations []struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	if json.Unmarshal(patch, &operations) != nil {
		return "", ""
	}
	for _, o := range operations {
		if o.Op != "test" && o.Op != "add" && o.Op != "replace" {
			continue
		}
		text, isText := o.Value.(string)
		switch {
		case o.Path == "/metadata":
			uid, resourceVersion = namesIn(o.Value)
		case o.Path == "/metadata/uid" && isText:
			uid = types.UID(text)
		case o.Path == "/metadata/resourceVersion" && isText:
			resourceVersion = text
		}
	}
	return uid, resourceVersion
}

// conditionUID refuses a write to another incarnation.
func (c *call) conditionUID(e *entry, asked types.UID) error {
	if asked != "" && asked != e.meta.GetUID() {
		return c.errPrecondition(e, "UID", string(asked), string(e.meta.GetUID()))
	}
	return nil
}

// conditionMeta refuses a request for another incarnation or revision, in a strategy's words. nil fields are not
// compared.
func (c *call) conditionMeta(e *entry, uid *types.UID, version *string) error {
	const text = "Precondition failed: %[1]s in precondition: %[2]v, %[1]s in object meta: %[3]v"
	m := e.meta
	if uid != nil && *uid != m.GetUID() {
		return c.errConflict(m.GetName(), fmt.Sprintf(text, "UID", *uid, m.GetUID()))
	}
	if version != nil && *version != m.GetResourceVersion() {
		return c.errConflict(m.GetName(), fmt.Sprintf(text, "ResourceVersion", *version, m.GetResourceVersion()))
	}
	return nil
}

// precondition refuses a delete of another incarnation or revision.
func (c *call) precondition(old *entry, pre *metav1.Preconditions) error {
	if pre == nil {
		return nil
	}
	gr := schema.GroupResource{Group: c.k.GVK.Group, Resource: c.k.GVK.Kind}
	if pre.UID != nil && *pre.UID != old.meta.GetUID() {
		return apierrors.NewConflict(gr, old.meta.GetName(), fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
				"deleted and then recreated",
			*pre.UID, old.meta.GetUID()))
	}
	if pre.ResourceVersion != nil && *pre.ResourceVersion != old.meta.GetResourceVersion() {
		return apierrors.NewConflict(gr, old.meta.GetName(), fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The "+
				"object might have been modified",
			*pre.ResourceVersion, old.meta.GetResourceVersion()))
	}
	return nil
}

// errPrecondition is the storage layer's error for the wrong incarnation or revision.
func (c *call) errPrecondition(e *entry, what, asked, have string) error {
	return c.errConflict(e.meta.GetName(), fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: %s in precondition: %s, %s in object meta: %s",
		c.k.row.StoragePrefix(), e.key, what, asked, what, have))
}
