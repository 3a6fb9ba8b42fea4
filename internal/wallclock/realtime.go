// Package wallclock runs a world in real time, for servers that people use. It starts a goroutine and reads the clock,
// so deterministic code must not depend on it.
package wallclock

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// batch is the maximal number of steps before waiting requests are executed.
const batch = 64

// horizon is the time after the last request at which the clock of a Runner with hurry stops. Otherwise, a controller
// that polls forever would keep a processor busy.
const horizon = time.Hour

// Runner runs a trial. Its lock protects the trial while Run is running.
type Runner struct {
	trial *trial.Trial
	lock  func(f func()) // calls f while no request is executed
	hurry bool
	until time.Duration // if hurry is set: the time at which the clock stops
	wake  chan struct{}
	now   atomic.Int64 // UnixNano of the world's clock
}

// New returns a runner, and sets the world's clock to the current time. lock must call its argument while no request is
// executed. If hurry is set, the clock jumps to the next timer instead of waiting in real time.
func New(t *trial.Trial, lock func(f func()), hurry bool) *Runner {
	r := &Runner{trial: t, lock: lock, hurry: hurry, wake: make(chan struct{}, 1)}
	r.advance()
	r.until = r.clock().Elapsed() + horizon
	return r
}

func (r *Runner) clock() *sim.Clock { return &r.trial.World.Clock }

// advance sets the world's clock to the real time, unless the world's time is later.
func (r *Runner) advance() {
	if behind := time.Since(r.clock().Now()); behind > 0 {
		r.clock().Advance(behind)
	}
	r.note()
}

func (r *Runner) note() { r.now.Store(r.clock().Now().UnixNano()) }

// Now returns the world's time or the real time, whichever is later. Any goroutine may call it.
func (r *Runner) Now() time.Time {
	now := time.Now()
	if world := time.Unix(0, r.now.Load()); world.After(now) {
		now = world
	}
	return now.UTC()
}

// Do executes a client request as a step of the world. The caller must hold the lock.
func (r *Runner) Do(req *fakeapi.Request) fakeapi.Response {
	return r.serve(req, func(who string) fakeapi.Response { return r.trial.Cluster.As(who, req) })
}

// Fail handles a request that a fault makes fail, and returns the parameter told. If commits is set, Fail first
// executes the request. If the server refuses it, Fail returns the refusal.
func (r *Runner) Fail(req *fakeapi.Request, told fakeapi.Response, commits bool) fakeapi.Response {
	return r.serve(req, func(who string) fakeapi.Response {
		return r.trial.Cluster.AsFailing(who, req, told, commits)
	})
}

func (r *Runner) serve(req *fakeapi.Request, as func(who string) fakeapi.Response) fakeapi.Response {
	r.advance()
	who, _, _ := strings.Cut(req.UserAgent, "/")
	if who == "" {
		who = "user"
	}
	if r.trial.Cluster.Process(who) != nil {
		who += " (client)" // so that the laws do not take the client for the controller of this name
	}
	r.until = r.clock().Elapsed() + horizon
	resp := as(who)
	if req.Verb != fakeapi.Get && req.Verb != fakeapi.List {
		r.Wake()
	}
	return resp
}

// Wake makes the runner check for enabled steps.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run executes enabled steps until ctx is done.
func (r *Runner) Run(ctx context.Context) {
	for ctx.Err() == nil {
		var sleep time.Duration
		r.lock(func() { sleep = r.steps() })
		if sleep == 0 {
			continue
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// idle is the time for which a runner without work sleeps, unless Wake is called.
const idle = time.Hour

// steps executes enabled steps in the order of the default schedule, at most 64. It returns the time until the next
// step, or 0 after 64 steps.
func (r *Runner) steps() time.Duration {
	w := r.trial.World
	defer r.note()
	for range batch {
		r.advance()
		e := w.Enabled()
		if len(e) == 0 || e[0].Class == sim.Fault {
			return idle
		}
		if e[0].Class == sim.Timer {
			at := w.Clock.Pending()[e[0].Slot].At
			switch left := at - w.Clock.Elapsed(); {
			case r.hurry && at > r.until:
				return idle
			case !r.hurry && left > 0:
				return left
			}
		}
		r.trial.Take(e[0])
	}
	return 0
}
