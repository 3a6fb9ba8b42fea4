package host

import (
	"context"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Program is a whole program that a process runs in place of a reconciler's coroutines,
// on goroutines of its own: see [Hosting]. It is the other host's side of a
// process; package bubble has one. The scheduler calls it, and nobody else. Start, Kill,
// Answer and Send return when every goroutine of the program waits for an answer, an
// event or the clock.
type Program interface {
	// Start begins a new life, with an empty memory.
	Start()
	// Kill ends it where it stands: nothing that it asked is answered any more.
	Kill()
	// Asked lists the calls that were made since it was last asked, in any order.
	Asked() []*Call
	// Queried lists the queries that were answered since it was last called, in any order.
	Queried() []Query
	// Ended reports whether the program has returned, and with what.
	Ended() (err error, ended bool)
	// Answer delivers the Response of a call, or of one that watches its Stream.
	Answer(c *Call)
	// Send delivers an event of a watch. After one of type ERROR the watch is over.
	Send(s *Stream, e watch.Event)
}

// Immediate is a Program that may have a call executed at once, in the middle of a step in which time passes. Execute is
// given before Start; the call then has its Response. It is for requests that no schedule needs to decide about, as
// the renewal of a Lease every two seconds.
type Immediate interface {
	Program
	SetExecute(execute func(*Call))
}

// printer is a Program whose output is kept.
type printer interface {
	// Printed returns the last lines that its process has printed, in this life and in those before it.
	Printed(lines int) []string
}

// Query is a request of a program that its host has answered at once: discovery, a schema, a review.
type Query struct {
	Method, URI string         // "GET", "/apis?timeout=32s"
	Object      runtime.Object // a review
	Body        []byte         // where there is no object
}

// QueryOf returns the request as a query. The object is that of its body, nil for none.
func QueryOf(r *http.Request, obj runtime.Object) Query {
	q := Query{Method: r.Method, URI: r.URL.RequestURI(), Object: obj}
	if obj != nil || r.GetBody == nil {
		return q
	}
	if body, err := r.GetBody(); err == nil {
		q.Body, _ = io.ReadAll(body) // it is in memory
	}
	return q
}

// Panic is the error of a program that a panic ended, or that had to be ended.
type Panic struct {
	Text  string // the value, and the line: "a nil map, at widget/sync.go:17"
	Hangs bool   // it would never have ended by itself: it is not started again
}

// Error is the text.
func (p *Panic) Error() string { return sim.Panicked + p.Text }

type workerState uint8

const (
	idle     workerState = iota
	asking               // a request waits to be executed
	answered             // its response waits to be delivered
	gathered             // a sync is going on whose goroutines ask: see crew
)

// Call is a request of a program that waits to be executed, or for its answer.
type Call struct {
	Request  *fakeapi.Request
	Watches  bool   // it opens a watch on what it lists
	Thread   uint64 // of the goroutine that asks
	From     string // where in the source it asks, if that is known
	Response fakeapi.Response
	Stream   *Stream // of one that watches, once it has been executed

	withdrawn func() bool // nobody waits for the answer any more
	of        party
	state     workerState
	key       string
	digest    uint64 // tells calls of one key apart; 0 where there is one
	asked     int    // how many records there were when it was made
	since     int    // how many there were when the goroutine began what it is at
	at        uint64 // the revision of what a list was answered
	cause     int    // the record of what the goroutine was told last, -1 for nothing

	// Of a call of a sync:
	done            int      // how many records there were when it was executed
	late            uint64   // as [worker]'s
	local, abstract sim.Hash // of the response, once it is there
}

// Place is the [Cluster] that a program runs beside, as far as it has to know it.
type Place interface {
	World() *sim.World
	Server() *fakeapi.Server
	AtStop(f func())
}

// Ask waits, on the goroutine that calls it, until a request is answered. An error is that
// nobody answers it any more.
type Ask func(ctx context.Context, req *fakeapi.Request) (*Call, error)

// NewCall is a call of a goroutine. The function says whether its caller has gone.
func NewCall(req *fakeapi.Request, watches bool, thread uint64, withdrawn func() bool) *Call {
	return &Call{Request: req, Watches: watches, Thread: thread, withdrawn: withdrawn}
}

// party is whose a goroutine that asks is: a program, or a sync.
type party interface {
	sign(c *Call, r *sim.Record)
	saw(c *Call, k *fakeapi.Kind, namespace, name string) any
	told(c *Call, k *fakeapi.Kind, m metav1.Object)
	execute(c *Call, f *FailedRequest)
}

// sign fills in who is acting.
func (c *Call) sign(r *sim.Record) { c.of.sign(c, r) }

// sawObject is what the goroutine can have gone by.
func (c *Call) sawObject(k *fakeapi.Kind, namespace, name string) any {
	return c.of.saw(c, k, namespace, name)
}

func (c *Call) told(k *fakeapi.Kind, m metav1.Object) { c.of.told(c, k, m) }

// execute has the server execute the call, under a failure, nil for none.
func (c *Call) execute(f *FailedRequest) { c.of.execute(c, f) }

// content digests what a call sends, and in which version of its kind.
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

// executeFailing is execute under a fault that struck just now.
func (c *Call) executeFailing(f *FailedRequest) { c.execute(f) }

func (c *Call) request() *fakeapi.Request { return c.Request }

// Stream is a watch of a program.
type Stream struct {
	Kind *fakeapi.Kind

	source *fakeapi.Watch
	scope  string // the selection, as steps name it; "" for all there is
	queue  []pending
	closed func() bool
	ended  bool // the server sends nothing more
	over   bool // and everything has been delivered
}

// pending is an event that is yet to be delivered.
type pending struct {
	event watch.Event
	is    change // what it tells of; without versions for a bookmark and for an error
}

// SetClosed says how to find out whether the program has closed the watch.
func (s *Stream) SetClosed(f func() bool) { s.closed = f }

// Closed reports whether the watch is over.
func (s *Stream) Closed() bool { return s.over || s.closed != nil && s.closed() }

// scopeOf words what a request selects of its kind.
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
