package host

import (
	"fmt"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// fault is one kind of fault that a budget can inject.
type fault struct {
	name string
	// strikes reports whether the fault makes a difference to a process now.
	strikes func(p *Process) bool
	// strike injects the fault at one of the places where it makes a difference.
	strike func(p *Process)
	// digest adds the state that matters only while the fault can still be injected, such as old revisions.
	digest func(c *Cluster, h *sim.Hash)
}

// pick lets the schedule choose one item of from for which strikes is true. label names the choice.
func pick[T any](w *sim.World, from []T, strikes func(T) bool, label string) T {
	var those []T
	for _, x := range from {
		if strikes(x) {
			those = append(those, x)
		}
	}
	return those[w.Pick(len(those), label)]
}

// crash kills a process while a request waits to be executed or answered, and restarts the process.
var crash = &fault{name: "crash", strikes: (*Process).isAtWork, strike: func(p *Process) { p.Crash(true) }}

// mostStale is the maximum number of recent writes that the lists of a lagging server may lack.
const mostStale = 4

// stale is a crash after which the process restarts and lists from a lagging server.
var stale = &fault{
	name:    "stale",
	strikes: (*Process).isAtWork,
	strike: func(p *Process) {
		p.Crash(true)
		c := p.cluster
		back := 1 + uint64(c.world.Pick(mostStale, "how stale"))
		p.from = max(c.server.Version()-min(back, c.server.Version()-1), 1)
	},
	digest: func(c *Cluster, h *sim.Hash) { c.digestLast(mostStale, h) },
}

// isAtWork reports whether a process has a request that waits to be executed or answered. A program that has only
// listed and watched does not count: a crash would interrupt nothing, and a manager of controller-runtime would never
// stop.
func (p *Process) isAtWork() bool {
	_, _, ok := p.Asking()
	return ok && (p.engine == nil || !p.engine.filling())
}

var conflict = answer("conflict", FailedRequest{Code: 409})

var throttle = answer("throttle", FailedRequest{Code: 429})

var failure = answer("error", FailedRequest{Code: 500})

// lost executes a write and answers 504.
var lost = answer("lost", FailedRequest{Code: 504, Commits: true})

// asker returns the first request of a process that waits to be executed and for which f returns true, or nil.
func (p *Process) asker(f func(asker) bool) asker {
	for _, w := range p.workers {
		if w.state == asking && f(w) {
			return w
		}
		if w.concurrentSync != nil {
			if a := w.concurrentSync.asker(f); a != nil {
				return a
			}
		}
	}
	if p.engine != nil {
		return p.engine.asker(f)
	}
	return nil
}

// answer returns a fault that replaces the answer to a pending request of a process.
func answer(name string, f FailedRequest) *fault {
	hits := func(a asker) bool { return f.answers(a.request()) }
	return &fault{
		name:    name,
		strikes: func(p *Process) bool { return p.asker(hits) != nil },
		strike: func(p *Process) {
			var all []asker
			p.asker(func(a asker) bool {
				if hits(a) {
					all = append(all, a)
				}
				return false
			})
			a := all[p.cluster.world.Pick(len(all), "request")]
			p.cluster.fact(p, name, string(a.request().Verb)+" "+nameIn(a.request()))
			a.execute(&f)
		},
	}
}

// answers reports whether f fits a request: for example, a server answers 409 only to a write.
func (f *FailedRequest) answers(req *fakeapi.Request) bool {
	write := f.Code == 409 || f.Commits // the answer 409, and an error after the execution, fit only a write
	switch req.Verb {
	case fakeapi.Get, fakeapi.List:
		return !write
	case fakeapi.Delete, fakeapi.DeleteCollection:
		p := req.Delete.Preconditions
		return f.Code != 409 || p != nil && p.ResourceVersion != nil
	}
	return true
}

const (
	mostSlow   = 2   // the longest duration of a slow write, in seconds
	slowWrites = 100 // the number of slow writes; without an end, an operator that polls would never be idle
)

// slow makes each of a process's next writes take one or two seconds. Without this fault, no time passes between a
// write and its consequences. So a controller that writes the current time in each reconcile would write the same time
// again, and change nothing.
var slow = &fault{
	name: "slow",
	strikes: func(p *Process) bool {
		return p.slow == 0 && p.asker(func(a asker) bool { return writes(a.request()) }) != nil
	},
	strike: func(p *Process) {
		p.slow, p.slowWrites = time.Duration(1+p.cluster.world.Pick(mostSlow, "how slow"))*time.Second, slowWrites
		p.cluster.fact(p, "slow", fmt.Sprintf("each of its next %d writes takes %s", slowWrites, p.slow))
	},
}
