package explore

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Uniform takes each enabled action with the same probability, except early timers, which are rare. It makes the same
// schedules as [sim.Seed].
type Uniform struct{ seed *sim.Seed }

// NewUniform returns the uniform schedule of a seed.
func NewUniform(seed uint64) *Uniform { return &Uniform{sim.NewSeed(seed)} }

// Pick draws uniformly.
func (u *Uniform) Pick(n int, label string) int { return u.seed.Pick(n, label) }

// Next draws among the enabled actions as [sim.World.Draw] does.
func (u *Uniform) Next(w *sim.World, enabled []sim.Action) int { return w.Draw(u.seed, enabled) }

// PCT runs the enabled thread with the highest priority. A thread is a worker, the event stream of one kind to one
// process, or another actor. A thread gets a random priority when it first occurs. At depth-1 random steps, the thread
// that is about to run gets a new priority: below all other threads, but above the timers.
//
// A timer has the lowest priority, so that time passes only when all threads wait. With a small probability, a timer is
// raised: it gets a random priority. The further the timer moves the clock, the smaller is this probability. A raised
// timer fires when all threads with a higher priority wait or were lowered.
//
// Faults have no priority. Up to three faults are taken, at random steps. After twice the expected number of steps, the
// rest of the run is uniform, because a thread that never waits would starve the others for ever.
type PCT struct {
	seed    *sim.Seed
	depth   int
	k       int
	changes []int // future steps at which a priority is lowered, ascending; steps count from 1
	faults  []int // future steps at which a fault is taken, ascending
	lowered int
	steps   int
	threads []thread
}

type thread struct {
	id       uint64
	priority uint64
	at       time.Duration // for a timer: the time when it fires, plus 1; tells apart timers with the same name
}

const maxFaults = 3

// NewPCT returns the PCT schedule of a seed. depth is the depth of the bugs to find, at least 1. k is the expected
// number of steps in a run.
func NewPCT(seed uint64, depth, k int) *PCT {
	p := &PCT{seed: sim.NewSeed(seed), depth: max(depth, 1), k: max(k, 1)}
	p.changes = p.points(p.depth - 1)
	p.faults = p.points(p.seed.Pick(maxFaults+1, "faults"))
	return p
}

func (p *PCT) points(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = 1 + p.seed.Pick(p.k, "point")
	}
	slices.Sort(at)
	return at
}

// Bound returns a lower bound for the probability that a run like this finds a bug of the schedule's depth:
// 1/(n*k^(d-1)). The bound holds for bugs that need no early timer. If the run took more than k steps, there is no
// bound, and Bound returns 0.
func (p *PCT) Bound() float64 {
	if p.steps > p.k || len(p.threads) == 0 {
		return 0
	}
	return 1 / (float64(len(p.threads)) * math.Pow(float64(p.k), float64(p.depth-1)))
}

// Depth returns the depth of the bugs to find.
func (p *PCT) Depth() int { return p.depth }

// Pick draws uniformly.
func (p *PCT) Pick(n int, label string) int { return p.seed.Pick(n, label) }

// Next returns the index of the action to take, or -1 to take none of the enabled faults.
func (p *PCT) Next(w *sim.World, enabled []sim.Action) int {
	p.steps++
	free := len(enabled) // number of enabled actions before the first fault; faults come last
	for free > 0 && enabled[free-1].Class == sim.Fault {
		free--
	}
	if len(p.faults) > 0 && p.steps >= p.faults[0] && free < len(enabled) {
		p.faults = p.faults[1:]
		return free + p.seed.Pick(len(enabled)-free, "fault")
	}
	if free == 0 {
		p.steps--
		return -1
	}
	if p.steps > 2*p.k {
		return w.Draw(p.seed, enabled[:free])
	}
	i, t := p.highest(w, enabled[:free])
	for len(p.changes) > 0 && p.steps >= p.changes[0] {
		p.changes = p.changes[1:]
		p.lowered++
		p.threads[t].priority = uint64(p.depth - p.lowered)
		i, t = p.highest(w, enabled[:free])
	}
	return i
}

// highest returns the index of the enabled action with the highest priority, and the index of its thread in p.threads.
func (p *PCT) highest(w *sim.World, enabled []sim.Action) (action, thread int) {
	best := -1
	for i := range enabled {
		t := p.thread(threadOf(&enabled[i]))
		if enabled[i].Class == sim.Timer {
			p.raise(&p.threads[t], &w.Clock)
		}
		if best < 0 || p.threads[t].priority > p.threads[best].priority {
			action, best = i, t
		}
	}
	return action, best
}

func (p *PCT) thread(id uint64) int {
	for i := range p.threads {
		if p.threads[i].id == id {
			return i
		}
	}
	// Priorities below 1<<32 are only for lowered threads and for timers.
	p.threads = append(p.threads, thread{id: id, priority: p.seed.Uint64() | 1<<32})
	return len(p.threads) - 1
}

// raise decides once for each timer whether it gets a random priority. The probability is 1/[sim.Clock.Odds], as in the
// uniform schedule. A raised timer stays raised until it fires.
func (p *PCT) raise(t *thread, c *sim.Clock) {
	jump := c.Jump()
	at := 1 + c.Elapsed() + jump
	if t.at == at {
		return
	}
	t.at, t.priority = at, 0
	if p.seed.Pick(c.Odds(), "raise") == 0 {
		t.priority = p.seed.Uint64() | 1<<32
	}
}

// threadOf returns the identity of an action's thread. The thread of a worker's action is the worker, whose name is the
// first word of the action's detail. Each stream of deliveries and each timer is a separate thread.
func threadOf(a *sim.Action) uint64 {
	var h sim.Hash
	h.String(a.Actor)
	if a.Class == sim.Deliver || a.Class == sim.Timer {
		h.Word(uint64(a.Class))
		h.String(a.Detail)
		return uint64(h)
	}
	worker, _, _ := strings.Cut(a.Detail, " ")
	h.String(worker)
	return uint64(h)
}
