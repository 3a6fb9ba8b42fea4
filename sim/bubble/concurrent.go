package bubble

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// Concurrent returns a copy of ctl whose Sync may start goroutines, for example with an errgroup or in growing
// batches. Several of these goroutines may have requests pending at the same time. Each reconcile runs in the world's
// bubble until all its goroutines wait. Then the schedule decides which pending request is executed or answered.
// Requests are ordered by content, and equal requests by the start of their goroutines.
//
// A reconcile that returns while one of its goroutines waits for an answer violates never-panic. So does a reconcile
// that waits forever. In Sync and in New, time.Sleep and time.Now use the world's clock.
//
// Concurrent costs some microseconds per step, and limits the Go process to one processor.
func Concurrent(ctl host.Controller) host.Controller {
	ctl.Goroutines = func(c host.Place, run func(context.Context, host.Ask) error) host.Program {
		return &shift{room: roomOf(c, ctl.Name), run: run}
	}
	return ctl
}

// shift is one reconcile of a controller from [Concurrent].
type shift struct {
	room *room
	run  func(context.Context, host.Ask) error
	life *life
}

func (s *shift) Start() {
	r := s.room
	r.in(func() {
		r.starts++
		seed(r.starts)
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

func (s *shift) Asked() []*host.Call { return s.life.taken() }

// Queried is never called: a reconcile sends only requests about objects.
func (s *shift) Queried() []host.Query { return nil }

func (s *shift) Answer(c *host.Call) {
	s.room.in(func() { s.life.answer(c) })
	s.wait()
}

// wait lets virtual time pass if the reconcile has not returned and has no pending request. Then it may be sleeping.
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

func (s *shift) Ended() (error, bool) {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	return s.life.err, s.life.over
}

// Kill ends the reconcile. If the reconcile has returned and has no pending request, only its later requests fail.
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

// stuck ends a reconcile that still waits after virtual time has passed, although it has no pending request.
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

// Send is never called: a reconcile has no watches.
func (s *shift) Send(*host.Stream, watch.Event) { panic("bubble: an event for a sync") }
