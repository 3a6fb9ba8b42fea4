package httpapi

import (
	"context"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// gatedFeed is a watch behind a [Gate].
type gatedFeed struct {
	frames framer
	more   chan struct{} // holds one when there is something to read, or nothing will be

	mu     sync.Mutex
	unread []byte
	ended  bool
	closed bool
}

// GatedTransport is [Handler.Transport] for one client whose requests about objects go
// through a gate, which executes them in the handler's stead.
func (h *Handler) GatedTransport(g Gate) *Transport { return &Transport{h: h, gate: g} }

// watchGated opens a watch behind the transport's gate. It is answered with what is
// returned: a feed, or else a refusal.
func (t *Transport) watchGated(ctx context.Context, a *answer) (*gatedFeed, *answer, error) {
	f := &gatedFeed{frames: framer{h: t.h, kind: a.kind, format: a.format}, more: make(chan struct{}, 1)}
	switch resp, err := t.gate.Watch(ctx, a.watch.gated, f); {
	case err != nil:
		return nil, nil, err
	case resp.Err != nil:
		return nil, fail(a.format, resp.Err), nil
	}
	return f, a, nil
}

// Send sends an event. The error is that of an object that cannot be encoded as the client
// asked for it.
func (f *gatedFeed) Send(e watch.Event) error {
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
func (f *gatedFeed) End() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.wake()
}

// Closed reports whether the client has closed the watch.
func (f *gatedFeed) Closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *gatedFeed) wake() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// feedBody is a feed as the client reads it.
type feedBody struct {
	*gatedFeed
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
