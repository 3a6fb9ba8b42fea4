package httpapi

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/clientfault"
)

// Durations of watches.
const (
	// defaultTimeout is the duration of a watch that sets no timeout.
	defaultTimeout = 30 * time.Minute
	// bookmarkEvery is the time between two bookmarks, for watches that request bookmarks.
	bookmarkEvery = time.Minute
	// lastBookmark is the time between the last bookmark and the end of a watch.
	lastBookmark = 2 * time.Second
)

// feed is an open watch. It stores only a revision, and reads later events from the server's log. So a slow client
// needs little memory. If the revision is compacted, the client gets 410 Expired.
type feed struct {
	h         *Handler
	w         *fakeapi.Watch      // reads the server's log; nil if no events can follow
	open      *clientfault.Stream // the faults that affect the watch; nil without faults
	over      bool                // no more events follow
	listed    int                 // number of initial objects in events; faults do not delay these
	frames    framer
	events    []watch.Event // events to send
	bookmarks bool
	end       time.Time
	bookmark  time.Time // when the next bookmark is due
	frame     frame
}

func (h *Handler) newFeed(a *answer) *feed {
	timeout := a.watch.timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	now := time.Now()
	s := &feed{h: h, w: a.watch.log, frames: framer{h: h, kind: a.kind, format: a.format},
		events: a.watch.first, bookmarks: a.watch.bookmarks, end: now.Add(timeout)}
	if req := a.watch.request; req != nil {
		s.open = h.Faults.Open(req)
		if lists(&req.List) {
			s.listed = len(s.events)
		}
	}
	s.schedule(now)
	return s
}

func (s *feed) schedule(now time.Time) {
	s.bookmark = now.Add(bookmarkEvery)
	if last := s.end.Add(-lastBookmark); s.bookmark.After(last) && now.Before(last) {
		s.bookmark = last
	}
}

// ready encodes the next event into s.frame. ok is false if there is no event. In this case, over reports whether the
// watch has ended. If over is false too, call ready again when changed is closed.
func (s *feed) ready() (ok, over bool, changed <-chan struct{}, err error) {
	held, expired, woken := s.open.State()
	switch {
	case expired:
		s.expire()
	case held && s.listed == 0:
		return false, false, woken, nil
	}
	if len(s.events) == 0 && s.w != nil {
		var show func() ([]watch.Event, error)
		if show, changed = s.pull(); show == nil {
			return false, false, changed, nil
		}
		s.see(show)
	}
	if len(s.events) == 0 {
		return false, s.over || s.w != nil && s.w.Done(), changed, nil
	}
	err = s.frames.fill(&s.frame, &s.events[0])
	s.events[0] = watch.Event{}
	s.events, s.listed = s.events[1:], max(s.listed-1, 0)
	return true, false, nil, err
}

func (s *feed) wait(ctx context.Context) error {
	for {
		ok, over, changed, err := s.ready()
		if ok {
			return err
		}
		if over || ctx.Err() != nil {
			return io.EOF
		}
		now := time.Now()
		if !now.Before(s.end) {
			return io.EOF
		}
		next := s.end
		held, _, _ := s.open.State()
		if s.bookmarks && s.bookmark.Before(s.end) && s.w != nil && !held {
			next = s.bookmark
		}
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-changed:
		case <-ctx.Done():
		case <-s.h.closed:
			timer.Stop()
			return io.EOF
		case now := <-timer.C:
			if next != s.end {
				s.mark(now)
			}
		}
		timer.Stop()
	}
}

func (s *feed) mark(now time.Time) {
	s.schedule(now)
	show, _ := s.pull()
	if show == nil {
		return
	}
	bookmark := s.w.Bookmark(false)
	s.see(show)
	if !s.w.Done() {
		s.events = append(s.events, bookmark)
	}
}

// see appends the events that the function show returns. If a conversion fails, it appends an ERROR event.
func (s *feed) see(show func() ([]watch.Event, error)) {
	events, err := show()
	if s.events = append(s.events, events...); err != nil {
		s.events = append(s.events, watch.Event{Type: watch.Error, Object: fail(s.frames.format, err).object})
	}
}

// gatedFeed is the feed of a watch that a [Gate] controls.
type gatedFeed struct {
	frames framer
	more   chan struct{} // holds a value if data can be read, or the watch has ended

	mu     sync.Mutex
	unread []byte
	ended  bool
	closed bool
}

// GatedTransport returns a [Handler.Transport] for one client. The gate executes the client's requests about objects.
func (h *Handler) GatedTransport(g Gate) *Transport { return &Transport{h: h, gate: g} }

// watchGated opens, through the transport's gate, the watch that a describes. It returns the feed of the watch, and a.
// If the server refuses the watch, it returns no feed, and an answer with the error.
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

// Send adds an event. It returns an error if the object cannot be encoded in the form that the client requested.
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

// End ends the watch after the client has read everything.
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

// feedBody is the response body from which the client reads a feed.
type feedBody struct {
	*gatedFeed
	ctx context.Context
}

// Read blocks until data is available, the watch has ended, or the request's context has ended.
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

// Gate decides when requests of one client are executed and answered, and when its watches receive events. Its methods
// run on the client's goroutine, without locks, and may block. Invalid requests, and requests for discovery, schemas
// and reviews, bypass the gate.
type Gate interface {
	// Do executes a request. An error reaches the client as an error of the transport.
	Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error)
	// Watch opens a watch. The gate passes the events of the watch to f.
	Watch(ctx context.Context, req *fakeapi.Request, f Feed) (fakeapi.Response, error)
	// Answered is called after a request that the handler has answered without the gate. obj is the decoded body; nil
	// if the body was not decoded. r.GetBody returns the body again.
	Answered(r *http.Request, obj runtime.Object)
}

// Feed receives the events of a watch behind a [Gate].
type Feed interface {
	// Send adds an event. It returns an error if the object cannot be encoded in the form that the client requested.
	Send(e watch.Event) error
	// End ends the watch after the client has read everything.
	End()
	// Closed reports whether the client has closed the watch.
	Closed() bool
}

// passage holds the gate of a client's request, and records whether the gate got the request.
type passage struct {
	gate   Gate
	passed bool
	object runtime.Object // the decoded body of a review, such as a SubjectAccessReview
}

type passageKey struct{}

// gated returns the gate of a request, or nil. It records that the gate gets the request.
func gated(ctx context.Context) Gate {
	p := passageOf(ctx)
	if p == nil {
		return nil
	}
	p.passed = true
	return p.gate
}

// passageOf returns the passage of a request, or nil for a request without a gate.
func passageOf(ctx context.Context) *passage {
	p, _ := ctx.Value(passageKey{}).(*passage)
	return p
}
