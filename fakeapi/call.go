package fakeapi

import (
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// call is the execution of one request.
type call struct {
	s        *Server
	req      *Request
	k        *Kind
	now      time.Time
	warnings []string
	events   []Event
	itself   bool  // the server itself makes this call, so no webhook is called
	tries    int   // number of times that the object to delete changed during a webhook call
	draft    draft // the current write
}

// stage is one step of a write. It sets fields of w, which is c.draft. If it returns an error, the request is refused.
// The comment of a stage says what it refuses.
type stage func(c *call, w *draft) error

// edit describes a requested write. The function that begins the write, such as update, sets it.
type edit struct {
	way     *registry.Update // the rules of the update; nil for a create
	make    stage            // the stage that sets draft.obj and draft.onlyMeta
	body    runtime.Object   // the server's copy of the body; nil for a create and a patch
	dryRun  bool
	creates bool // the write creates a missing object
}

// draft is the state of one attempt to write one object. A call makes one write at a time, so one draft per call is
// enough, and a write needs no allocation.
type draft struct {
	edit
	calls  int    // the server's count of webhook calls (c.s.calls) at the start of the attempt
	stored *entry // set by modify: the stored object of an update, or nil

	// old is the object before the write, in the version of the request, or nil. findUpdate or remove sets it, and
	// reviewDelete replaces it.
	old *entry
	// obj is the object after the write. After the last stage, the response contains it. The decode stages set obj and
	// m. A store stage may replace obj.
	obj runtime.Object
	m   metav1.Object // the metadata of obj
	// onlyMeta is set if obj differs from old only in metadata, and shares the rest of its memory with old.
	// decodeUpdate sets it. admitUpdate clears it after a change by a webhook.
	onlyMeta  bool
	key       string                // set by nameCreate: the key of the object in the store
	generated tally                 // set by nameCreate: the new number of generated names, to be stored
	asked     []askedPort           // set by a validate stage: the node ports that the request sets
	kept      runtime.Object        // obj in the storage version, if obj has another version
	opts      *metav1.DeleteOptions // set by remove: the options of the deletion
	gone      bool                  // set by storeDelete: the deletion removes the object
}

// askedPort is a node port that a request sets for the Service port with index i.
type askedPort struct {
	i    int
	port int32
}

// serverCall returns a call for a write that the server makes itself during c.
func (c *call) serverCall(k *Kind, subresource string) *call {
	return &call{s: c.s, k: k, now: c.now, itself: true,
		req: &Request{Verb: Update, Kind: k, Subresource: subresource, UserAgent: "kube-apiserver"}}
}

// copyIn returns the server's own copy of a request's object.
func (c *call) copyIn(in runtime.Object) (runtime.Object, error) {
	obj := in.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(c.k.GVK)
	m := metadata.Of(obj)
	if !c.s.opts.ManagedFields && len(m.GetManagedFields()) > 0 {
		m.SetManagedFields(nil)
	}
	if err := c.decoded(obj); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", c.k.GVK.Kind,
			c.k.GVK.Version, c.k.GVK.Kind, err))
	}
	return obj, nil
}

func (c *call) matchNamespace(m metav1.Object) error {
	want := c.req.Namespace
	if !c.k.Namespaced {
		want = ""
	}
	switch have := m.GetNamespace(); {
	case have == want:
	case have == "" || want == "":
		m.SetNamespace(want)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on " +
			"the request")
	}
	return nil
}

func (c *call) matchName(m metav1.Object) error {
	switch name := m.GetName(); {
	case name == "":
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", c.req.Name))
	case name != c.req.Name:
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, c.req.Name))
	}
	return nil
}

const (
	duplicateOwners = ".metadata.ownerReferences contains duplicate entries; API server dedups owner references " +
		"in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
	duplicateOwnersLate = ".metadata.ownerReferences contains duplicate entries after mutating admission happens; " +
		"API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your " +
		"requests; duplicate UID(s) observed: "
)

// dedupOwners removes duplicate owner references and adds a warning. After mutating admission (late), its text differs.
func (c *call) dedupOwners(m metav1.Object, late bool) {
	twice := metadata.DedupOwners(m)
	switch {
	case twice == nil:
	case late:
		c.warnings = append(c.warnings, duplicateOwnersLate+strings.Join(twice, ", "))
	default:
		c.warnings = append(c.warnings, duplicateOwners+strings.Join(twice, ", "))
	}
}

// decoded sets the defaults of a decoded object. It returns an error if validation cannot convert the object.
func (c *call) decoded(obj runtime.Object) error {
	if c.k.row.Judged != nil {
		if err := c.k.row.Judged(obj); err != nil {
			return err
		}
	}
	if c.k.Default != nil {
		c.k.Default(obj)
	}
	return nil
}

// bare has no rules: an update with it is neither prepared nor validated.
var bare registry.Update
