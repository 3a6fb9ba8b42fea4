package bubble

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// Concurrent is a controller whose Sync may start goroutines, and what they ask may be pending
// at one time: an errgroup, batches that grow. Each sync runs in the world's bubble until every
// goroutine of it waits, and the schedule decides which of the requests that wait by then is
// executed, and which is answered. They are in the order of what they ask; those that ask the
// same, in that in which their goroutines were started.
//
// A sync that returns while one of its goroutines waits for an answer, and one in which nothing
// can happen any more, are told as a panic would be (never-panic), with the line. time.Sleep and
// time.Now in a sync, and in New, go by the world's clock.
//
// It costs some microseconds a step, and one processor for the whole Go process; a sync without
// goroutines needs none of it.
func Concurrent(ctl host.Controller) host.Controller {
	ctl.Goroutines = func(c host.Place, run func(context.Context, host.Ask) error) host.Program {
		return &shift{room: roomOf(c, ctl.Name), run: run}
	}
	return ctl
}

// shift is one sync.
type shift struct {
	room *room
	run  func(context.Context, host.Ask) error
	life *life
}

// Start begins it.
func (s *shift) Start() {
	r := s.room
	r.in(func() {
		l := newLife(r)
		s.life, l.sync = l, true
		l.begin(func(ctx context.Context) error {
			return s.run(ctx, func(ctx context.Context, req *fakeapi.Request) (*host.Call, error) {
				return l.ask(ctx, req, false)
			})
		})
	})
	if !s.over() {
		r.syncs = append(r.syncs, s)
	}
	s.wait()
}

// Asked lists the new calls.
func (s *shift) Asked() []*host.Call { return s.life.taken() }

// Queried is never called: a sync asks for objects alone.
func (s *shift) Queried() []host.Query { return nil }

// Answer delivers the answer to a call.
func (s *shift) Answer(c *host.Call) {
	s.room.in(func() { s.life.answer(c) })
	s.wait()
}

// wait lets time pass where nothing else can happen in the sync.
func (s *shift) wait() {
	s.life.mu.Lock()
	waits := !s.life.over && len(s.life.open) == 0
	s.life.mu.Unlock()
	if waits {
		s.room.quiet.Stir()
	}
}

func (s *shift) over() bool {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	return s.life.over
}

// Ended reports whether the sync has returned, and with what.
func (s *shift) Ended() (error, bool) {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	return s.life.err, s.life.over
}

// Kill ends it; one that has returned and left nothing behind needs no more than to be
// remembered as such.
func (s *shift) Kill() {
	r, l := s.room, s.life
	r.syncs = slices.DeleteFunc(r.syncs, func(o *shift) bool { return o == s })
	l.mu.Lock()
	clean := l.over && len(l.open) == 0 && !l.killed
	l.buried = l.buried || clean
	l.mu.Unlock()
	if !clean {
		r.cut = true
		l.end()
	}
}

// stuck is told that time has passed in vain.
func (s *shift) stuck() {
	l := s.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.open) > 0 {
		return
	}
	l.over, l.killed, l.err = true, true, host.Stray("nothing can happen any more in a sync that has not returned: "+
		s.room.waiting())
}

// Send is never called: a sync watches nothing.
func (s *shift) Send(*host.Stream, watch.Event) { panic("bubble: an event for a sync") }
