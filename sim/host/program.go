package host

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Program is a whole program on its own goroutines: see [Hosting]. Packages bubble and agent implement it. Only the
// scheduler calls its methods. Start, Kill, Answer and Send return when every goroutine of the program waits for an
// answer, an event or the clock.
type Program interface {
	// Start starts the program with an empty memory.
	Start()
	// Kill ends the program immediately. Later requests are never answered.
	Kill()
	// Asked returns the calls that the program has made since the last call of Asked, in any order.
	Asked() []*Call
	// Queried returns the queries that were answered since the last call of Queried, in any order.
	Queried() []Query
	// Ended reports whether the program has returned, and returns its error.
	Ended() (err error, ended bool)
	// Answer gives the program the answer to c: c.Response or, if c opens a watch, c.Stream.
	Answer(c *Call)
	// Send delivers an event of a watch. An event of type ERROR ends the watch.
	Send(s *Stream, e watch.Event)
}

// immediate is a Program that executes some calls at once, without a step of the scheduler. These calls need no order:
// for example, the renewal of a Lease. The host calls SetExecute before Start. The function execute sets the Response
// of a call.
type immediate interface {
	Program
	SetExecute(execute func(*Call))
}

// printer is a Program whose output is kept.
type printer interface {
	// Printed returns the last lines that the program has printed, including lines before a restart.
	Printed(lines int) []string
}

// Query is a request that the package hosting the program answers at once: discovery, a schema, a review.
type Query struct {
	Method, URI string         // "GET", "/apis?timeout=32s"
	Object      runtime.Object // the object in the body, such as a review; nil if none
	Body        []byte         // the body, if Object is nil
}

// QueryOf returns a query for an HTTP request. obj is the object in its body, or nil.
func QueryOf(r *http.Request, obj runtime.Object) Query {
	q := Query{Method: r.Method, URI: r.URL.RequestURI(), Object: obj}
	if obj != nil || r.GetBody == nil {
		return q
	}
	if body, err := r.GetBody(); err == nil {
		q.Body, _ = io.ReadAll(body) // reads from memory, so there is no error
	}
	return q
}

// Panic is the error of a program that has panicked, or that had to be killed.
type Panic struct {
	Text  string // the panic value and the line: "a nil map, at widget/sync.go:17"
	Hangs bool   // the program never ends, so it is not started again
}

// Error returns the text after the prefix [sim.Panicked].
func (p *Panic) Error() string { return sim.Panicked + p.Text }

type workerState uint8

const (
	idle     workerState = iota
	asking               // a request waits to be executed
	answered             // the response waits to be delivered
	gathered             // the worker is in a reconcile whose goroutines send requests: see concurrentSync
)

// Call is a request of a program, or of a reconcile that may start goroutines. It waits to be executed or answered.
type Call struct {
	Request *fakeapi.Request
	Watches bool   // the call opens a watch
	Thread  uint64 // the goroutine that sent the call
	// Reconcile is the number of the reconcile to which the call belongs: see [Announced]. 0 for none.
	Reconcile int64
	From      string // the source line of the request, if known
	Response  fakeapi.Response
	Stream    *Stream // set when a call that watches has been executed

	withdrawn func() bool // reports whether the caller has canceled the call
	of        requester
	state     workerState
	key       string
	digest    uint64     // digest of the content, to sort new calls with equal keys; 0 if a program has only one with this key
	asked     int        // the length of the history when the call was made
	since     int        // the length of the history when the goroutine began its current work
	at        uint64     // the revision of the list in the answer
	cause     int        // index of the last record that the program knew when it made the call; -1 for none
	announced *announced // the reconcile to which the call belongs; nil if unknown
	aside     bool       // the call is no step of the world, so it takes no time

	// set only for a call of a reconcile:
	done            int      // the length of the history when the call was executed
	late            uint64   // digest of the deliveries since the call was made
	local, abstract sim.Hash // digests of the response: see [version].exact and [version].abstract
}

// Place is the part of a [Cluster] that the host of a program needs.
type Place interface {
	World() *sim.World
	Server() *fakeapi.Server
	AtStop(f func())
}

// Ask sends a request and waits, on the calling goroutine, for the answer. It returns an error if the request cannot
// be answered any more.
type Ask func(ctx context.Context, req *fakeapi.Request) (*Call, error)

// NewCall returns a call that the goroutine thread makes. withdrawn reports whether the caller has canceled the call.
func NewCall(req *fakeapi.Request, watches bool, thread uint64, withdrawn func() bool) *Call {
	return &Call{Request: req, Watches: watches, Thread: thread, withdrawn: withdrawn}
}

// requester is the program or reconcile whose goroutine sends a request.
type requester interface {
	sign(c *Call, r *sim.Record)
	saw(c *Call, k *fakeapi.Kind, namespace, name string) any
	told(c *Call, k *fakeapi.Kind, m metav1.Object)
	toldAll(c *Call, k *fakeapi.Kind, items []runtime.Object)
	execute(c *Call, f *FailedRequest)
}

func (c *Call) sign(r *sim.Record) { c.of.sign(c, r) }

// sawObject returns the version of an object that the goroutine of c has probably read.
func (c *Call) sawObject(k *fakeapi.Kind, namespace, name string) any {
	return c.of.saw(c, k, namespace, name)
}

func (c *Call) told(k *fakeapi.Kind, m metav1.Object) { c.of.told(c, k, m) }

func (c *Call) toldAll(k *fakeapi.Kind, items []runtime.Object) { c.of.toldAll(c, k, items) }

// execute executes the call. If f is not nil, the call fails as f says: see [Cluster.serve].
func (c *Call) execute(f *FailedRequest) { c.of.execute(c, f) }

// about says when a process crashed: "after" the last executed call or, if none was executed, "before" the first call.
func about(calls []*Call) (detail string) {
	for _, c := range calls {
		if c.state == answered {
			detail = "after " + string(c.Request.Verb) + " " + c.Request.Name
		} else if detail == "" {
			detail = "before " + string(c.Request.Verb) + " " + c.Request.Name
		}
	}
	return detail
}

// name returns the verb and the object of a call, for action keys.
func (c *Call) name() string {
	r, verb := c.Request, string(c.Request.Verb)
	if c.Watches {
		verb = "watch"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s/%s %s/%s %s", verb, r.Kind.Resource, r.Subresource, r.Namespace, r.Name,
		scopeOf(&fakeapi.Request{List: r.List})))
}

// content returns a digest of a call's API version, object, patch and options.
func (c *Call) content() uint64 {
	var h sim.Hash
	h.String(c.Request.Kind.GVK.GroupVersion().String())
	if c.Request.Object != nil {
		h.Word(newVersion(0, "", 0, c.Request.Object).exact)
	}
	h.Word(patchDigest(c.Request))
	h.Word(optionsDigest(c.Request))
	return uint64(h)
}

func (c *Call) request() *fakeapi.Request { return c.Request }

// Stream is a watch of a program.
type Stream struct {
	Kind *fakeapi.Kind

	source *fakeapi.Watch
	scope  string // what the watch selects, in the form of scopeOf; "" for all objects
	name   string // the kind and the scope, with a number if another open watch of the process has the same
	queue  []pending
	closed func() bool
	ended  bool // the server sends no more events
	over   bool // the server sends no more events, and all events have been delivered
}

// pending is a watch event that waits for delivery.
type pending struct {
	event watch.Event
	is    change // the change that the event reports; zero for a bookmark or an error
}

// SetClosed sets the function that reports whether the program has closed the watch.
func (s *Stream) SetClosed(f func() bool) { s.closed = f }

// Closed reports whether the watch has ended or the program has closed it.
func (s *Stream) Closed() bool { return s.over || s.closed != nil && s.closed() }

// scopeOf describes what a request selects: its namespace, name and selectors. It returns "" for all objects.
func scopeOf(req *fakeapi.Request) string {
	scope := req.Namespace
	if req.Name != "" {
		scope += " " + fields.OneTermEqualSelector("metadata.name", req.Name).String()
	}
	for _, sel := range [...]string{req.List.LabelSelector, req.List.FieldSelector} {
		if sel != "" {
			scope += " " + sel
		}
	}
	return scope
}
