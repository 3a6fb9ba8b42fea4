// Package wallclock runs a world in real time, for servers that people use. It is separate because it has a goroutine
// and reads the clock: no deterministic code may depend on it.
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

// batch limits the steps before waiting requests get their turn.
const batch = 64

// horizon limits how far time may run ahead of the last request if it does not wait. A controller that polls forever
// must not keep a processor busy.
const horizon = time.Hour

// Runner drives one trial. Its lock protects the trial while Run is under way.
type Runner struct {
	trial *trial.Trial
	lock  func(f func()) // calls f while nothing else uses the cluster
	hurry bool
	until time.Duration // in a hurry: the time at which the clock stops
	wake  chan struct{}
	now   atomic.Int64 // UnixNano of the world's clock
}

// New returns a runner and sets the world's clock to the time of day. lock calls its argument while no request is
// executed. In a hurry, time passes as soon as nothing else can happen; otherwise timers wait in real time.
func New(t *trial.Trial, lock func(f func()), hurry bool) *Runner {
	r := &Runner{trial: t, lock: lock, hurry: hurry, wake: make(chan struct{}, 1)}
	r.advance()
	r.until = r.clock().Elapsed() + horizon
	return r
}

func (r *Runner) clock() *sim.Clock { return &r.trial.World.Clock }

// advance moves the world's clock forward to the time of day.
func (r *Runner) advance() {
	if behind := time.Since(r.clock().Now()); behind > 0 {
		r.clock().Advance(behind)
	}
	r.note()
}

func (r *Runner) note() { r.now.Store(r.clock().Now().UnixNano()) }

// Now returns the world's time of day. Any goroutine may call it.
func (r *Runner) Now() time.Time {
	now := time.Now()
	if world := time.Unix(0, r.now.Load()); world.After(now) {
		now = world
	}
	return now.UTC()
}

// Do executes one client request as a step of the world. The caller holds the lock.
func (r *Runner) Do(req *fakeapi.Request) fakeapi.Response {
	return r.serve(req, func(who string) fakeapi.Response { return r.trial.Cluster.As(who, req) })
}

// Fail works like Do for a request that a fault makes fail. With commits the request is executed, and told is the
// answer unless the server refuses it; otherwise told is the answer.
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
		who += " (client)" // it has the name of a controller here, which is not responsible for its writes
	}
	r.until = r.clock().Elapsed() + horizon
	resp := as(who)
	if req.Verb != fakeapi.Get && req.Verb != fakeapi.List {
		r.Wake()
	}
	return resp
}

// Wake makes the runner check for work.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run steps the world whenever something is enabled, until the context ends.
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

// idle is how long a runner without work sleeps, unless woken.
const idle = time.Hour

// steps takes enabled steps in the order of the default schedule, up to a batch. It returns the time until the next
// one: 0 for at once.
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
