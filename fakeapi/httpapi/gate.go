package httpapi

import (
	"context"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
)

// Gate decides when the requests of one client are executed and answered, and when its
// watches are sent what: a scheduler stands behind it. Its methods are called on the
// client's goroutine, with no lock held, and may block. What is not about objects
// (discovery, schemas, reviews) does not come to it.
type Gate interface {
	// Do executes a request. An error is what the client's transport fails with, as a
	// connection that breaks.
	Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error)
	// Watch opens a watch. What its client is sent is what the gate gives to the feed.
	Watch(ctx context.Context, req *fakeapi.Request, f *Feed) (fakeapi.Response, error)
}

// GatedTransport is [Handler.Transport] for one client whose requests about objects go
// through a gate, which executes them in the handler's stead.
func (h *Handler) GatedTransport(g Gate) *Transport { return &Transport{h: h, gate: g} }

type gateKey struct{}

// gated is the gate that a request has to go through, nil for none.
func gated(ctx context.Context) Gate {
	g, _ := ctx.Value(gateKey{}).(Gate)
	return g
}

// broken is the answer to a request whose connection breaks.
func broken(err error) *answer { return &answer{lost: err} }

// Feed is what a watch behind a [Gate] is sent.
type Feed struct {
	frames framer
	more   chan struct{} // holds one when there is something to read, or nothing will be

	mu     sync.Mutex
	unread []byte
	ended  bool
	closed bool
}

func (h *Handler) newGatedFeed(a *answer) *Feed {
	return &Feed{frames: framer{h: h, kind: a.kind, format: a.format}, more: make(chan struct{}, 1)}
}

// Send sends an event. The error is that of an object that cannot be encoded as the client
// asked for it.
func (f *Feed) Send(e watch.Event) error {
	var frame frame
	if err := f.frames.fill(&frame, &e); err != nil {
		return err
	}
	f.mu.Lock()
	for _, part := range frame {
		f.unread = append(f.unread, part...)
	}
	f.mu.Unlock()
	f.wake()
	return nil
}

// End ends the watch once everything has been read.
func (f *Feed) End() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.wake()
}

// Closed reports whether the client has closed the watch.
func (f *Feed) Closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *Feed) wake() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// feedBody is a [Feed] as the client reads it.
type feedBody struct {
	*Feed
	ctx context.Context
}

// Read blocks until there is something to read, the watch has ended, or the request's
// context is over.
func (b feedBody) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		n := copy(p, b.unread)
		b.unread = b.unread[n:]
		ended, closed := b.ended, b.closed
		b.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case closed:
			return 0, http.ErrBodyReadAfterClose
		case ended:
			return 0, io.EOF
		}
		select {
		case <-b.more:
		case <-b.ctx.Done():
			b.Close()
			return 0, b.ctx.Err()
		}
	}
}

// Close ends the watch from the client's side.
func (b feedBody) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.wake()
	return nil
}
