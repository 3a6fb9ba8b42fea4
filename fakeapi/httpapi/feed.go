package httpapi

import (
	"context"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/fault"
)

// Durations of watches.
const (
	// defaultTimeout is how long a watch lasts that names no timeout.
	defaultTimeout = 30 * time.Minute
	// bookmarkEvery is how often a watch that wants them is sent bookmarks.
	bookmarkEvery = time.Minute
	// lastBookmark is how long before its end a watch is sent the last one.
	lastBookmark = 2 * time.Second
)

// feed is an open watch: what its client has still to be sent. It pulls from
// the server's log, so that a client that does not read costs nothing but its
// place in the log; when the log has moved on past it, it is sent 410 Expired.
type feed struct {
	h         *Handler
	w         *fakeapi.Watch // nil: nothing ever happens
	open      *fault.Stream  // as faults see it; nil where there are none
	over      bool           // nothing comes after events
	listed    int            // how many of events are a list, which is not held
	frames    framer
	events    []watch.Event // to be sent
	bookmarks bool
	end       time.Time
	bookmark  time.Time // when the next is due
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

// schedule sets the time of the next bookmark.
func (s *feed) schedule(now time.Time) {
	s.bookmark = now.Add(bookmarkEvery)
	if last := s.end.Add(-lastBookmark); s.bookmark.After(last) && now.Before(last) {
		s.bookmark = last
	}
}

// ready makes the next frame if there is one; otherwise changed is closed when
// there may be, and over says that there will never be one.
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

// wait makes the next frame, when something has happened. It returns io.EOF
// when the watch is over.
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

// mark puts a bookmark at the end of what there is to send.
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

// see adds what was pulled. An object that cannot be converted ends the watch: whoever lists
// again is told why.
func (s *feed) see(show func() ([]watch.Event, error)) {
	events, err := show()
	if s.events = append(s.events, events...); err != nil {
		s.events = append(s.events, watch.Event{Type: watch.Error, Object: fail(s.frames.format, err).object})
	}
}
