package fakeapi

import (
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// call is one request being executed.
type call struct {
	s         *Server
	req       *Request
	k         *Kind
	now       time.Time
	warnings  []string
	events    []Event
	generated tally          // the count to keep when the create commits
	kept      runtime.Object // what was stored of an object of another version
	stale     *stale         // how the store holds the object otherwise than it is read
	itself    bool           // the server asks: no webhook has a say
	mutatedIt bool           // a webhook has changed the object
	tries     int            // of a deletion, while others change the object
	asked     []askedPort    // of a Service that is changed
}

// serverCall returns a call that the server makes itself during another.
func (c *call) serverCall(k *Kind, subresource string) *call {
	return &call{s: c.s, k: k, now: c.now, itself: true,
		req: &Request{Verb: Update, Kind: k, Subresource: subresource, UserAgent: "kube-apiserver"}}
}

// copyIn returns the server's own copy of an object of a request.
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

// dedupOwners drops repeated owner references and warns about them. late means that admission is over.
func (c *call) dedupOwners(m metav1.Object, late bool) {
	twice := metadata.DedupOwners(m)
	switch {
	case twice == "":
	case late:
		c.warnings = append(c.warnings, duplicateOwnersLate+twice)
	default:
		c.warnings = append(c.warnings, duplicateOwners+twice)
	}
}

// decoded sets the defaults that decoding sets.
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

// bare is an update without preparation and validation.
var bare registry.Update

// Do executes one request at the given time. It returns one event per change, in order. A refused create may still
// have charged quotas if its name is taken.
func (s *Server) Do(now time.Time, req *Request) (Response, []Event) {
	if k := req.Kind; k == nil || k.ordinal >= len(s.tables) || s.tables[k.ordinal].kind != k {
		return s.doOther(now, req)
	}
	if req.Verb == Get && req.Subresource == "" && req.List.ResourceVersion == "" {
		if e := s.lookup(s.tables[req.Kind.ordinal], req.Namespace, req.Name); e != nil && !e.away() {
			return Response{Object: e.obj, Code: http.StatusOK}, nil
		}
	}
	c := &call{s: s, req: req, k: req.Kind, now: now}
	return c.run()
}

// doOther executes a request for a kind that has no table of its own.
func (s *Server) doOther(now time.Time, req *Request) (Response, []Event) {
	k := s.current(req.Kind)
	if k == nil {
		return refuse(s.errNotServed(req)), nil
	}
	own := *req
	own.Kind = k
	c := &call{s: s, req: &own, k: k, now: now}
	if k.stored == nil {
		return c.run()
	}
	switch req.Verb {
	case Get, List, Delete, DeleteCollection:
		if c.k = k.stored; own.Subresource == "scale" && k.custom != nil {
			c.k = k
		}
		if err := k.selectStored(&own.List); err != nil {
			return refuse(err), nil
		}
	}
	r, events := c.run()
	return c.present(k, r), events
}

func (c *call) run() (Response, []Event) {
	if c.s.tables[c.k.ordinal].away {
		if err := c.settle(); err != nil {
			return refuse(err), nil
		}
	}
	switch c.req.Verb {
	case Get:
		if c.req.Subresource != "" {
			return c.getSubresource(), nil
		}
		return c.get(), nil
	case List:
		return c.list(), nil
	}
	r := c.write()
	if len(c.events) > 0 {
		c.follow()
	}
	if len(c.warnings) > 0 {
		r.Warnings = append(c.warnings, r.Warnings...)
	}
	return r, c.events
}

func (c *call) write() Response {
	switch c.req.Verb {
	case Create:
		if c.req.Subresource != "" {
			return c.createSubresource()
		}
		return c.create()
	case Update, Patch:
		w := c.k.row.Way(c.req.Subresource)
		switch {
		case w == nil:
			return c.updateSubresource()
		case c.req.Verb == Update:
			return c.update(w)
		}
		return c.patch(w)
	case Delete:
		return c.delete()
	case DeleteCollection:
		return c.deleteCollection()
	}
	return refuse(errMethod(c.req))
}
