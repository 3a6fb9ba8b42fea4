package fault

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
)

// Stream is an open watch. The list decides whether it is paused or expired; the server checks before each event.
type Stream struct {
	list     *List
	deed     *deed
	resource string
	held     bool
	expired  bool
	changed  chan struct{}
}

// Open adds a watch that a request opens. It closes when the request's context ends. A nil list returns a nil stream,
// which is never paused.
func (l *List) Open(req *fakeapi.Request) *Stream {
	if l == nil {
		return nil
	}
	s := &Stream{list: l, deed: deedOf(req, true), resource: req.Kind.Resource, changed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = append(l.streams, s)
	for _, r := range l.rules {
		if !r.spent() {
			l.meet(s, r)
		}
	}
	return s
}

// meet applies a matching rule to a watch.
func (l *List) meet(s *Stream, r *rule) {
	if r.verb != hold && r.verb != relist || !r.about(s.deed) {
		return
	}
	of := "the watch of " + s.resource + " of " + strings.Join(s.deed.who, ", ")
	switch {
	case r.verb == hold:
		r.struck++
		l.tell(r, of+" is held")
		if !s.held {
			s.held = true
			s.wake()
		}
	case !s.expired:
		r.struck++
		l.tell(r, of+" ends with 410 Expired")
		s.expired = true
		s.wake()
	}
}

// refresh resumes the watches that nothing holds any more.
func (l *List) refresh() {
	for _, s := range l.streams {
		if s.held && !slices.ContainsFunc(l.rules, func(r *rule) bool { return r.verb == hold && r.about(s.deed) }) {
			s.held = false
			s.wake()
		}
	}
}

func (s *Stream) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// State says whether the watch's events must wait, and whether it has expired. A paused watch still reports its expiry.
// changed is closed when this changes.
func (s *Stream) State() (held, expired bool, changed <-chan struct{}) {
	if s == nil {
		return false, false, nil
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	return s.held && !s.expired, s.expired, s.changed
}

// Close removes the watch from the list. It is idempotent.
func (s *Stream) Close() {
	if s == nil {
		return
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	if i := slices.Index(s.list.streams, s); i >= 0 {
		s.list.streams = slices.Delete(s.list.streams, i, i+1)
	}
}
