package httpapi

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
)

// Gate decides when the requests of one client are executed and answered, and when its
// watches are sent what: a scheduler stands behind it. Its methods are called on the
// client's goroutine, with no lock held, and may block. The handler itself answers what is
// not about objects (discovery, schemas, reviews), and what cannot be read.
type Gate interface {
	// Do executes a request. An error is what the client's transport fails with, as a
	// connection that breaks.
	Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error)
	// Watch opens a watch. What its client is sent is what the gate gives to the feed.
	Watch(ctx context.Context, req *fakeapi.Request, f Feed) (fakeapi.Response, error)
	// Answered is called after the handler itself has answered a request. The object is that of its body where
	// the body was decoded, nil otherwise; GetBody returns the body once more.
	Answered(r *http.Request, obj runtime.Object)
}

// Feed is what a watch behind a [Gate] is sent.
type Feed interface {
	// Send sends an event. The error is that of an object that cannot be encoded as the
	// client asked for it.
	Send(e watch.Event) error
	// End ends the watch once everything has been read.
	End()
	// Closed reports whether the client has closed the watch.
	Closed() bool
}

// passage is a request on its way to a gate.
type passage struct {
	gate   Gate
	passed bool
	object runtime.Object // of the body of a review
}

type passageKey struct{}

// gated is the gate that a request has to go through, nil for none. The request passes it.
func gated(ctx context.Context) Gate {
	p := passageOf(ctx)
	if p == nil {
		return nil
	}
	p.passed = true
	return p.gate
}

// passageOf returns nil for a request without a gate.
func passageOf(ctx context.Context) *passage {
	p, _ := ctx.Value(passageKey{}).(*passage)
	return p
}
