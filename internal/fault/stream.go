package fault

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
)

// Stream is an open watch. It is held, or has expired, as the list says; whoever sends its events
// asks before each.
type Stream struct {
	list     *List
	deed     *deed
	resource string
	held     bool
	expired  bool
	changed  chan struct{}
}

// Open adds a watch that a request opens. It is closed when that is over. Without a list there
// is no stream either, and nothing is ever held.
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

// meet lets a rule strike a watch that it is about.
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

// refresh releases the watches that nothing holds any more.
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

// State says whether the watch's events are to wait, and whether it has expired, which a hold
// does not keep its client from being told. Changed is closed when that is no longer so.
func (s *Stream) State() (held, expired bool, changed <-chan struct{}) {
	if s == nil {
		return false, false, nil
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	return s.held && !s.expired, s.expired, s.changed
}

// Close ends the watch for the list. It is idempotent.
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
