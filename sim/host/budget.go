package host

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// FaultNames are the faults a [Budget] can hold, in canonical order.
var FaultNames = []string{"crash", "stale", "conflict", "throttle", "error", "lost", "relist", "resync"}

// Budget is how many faults of each sort a run may have. As an actor of the
// world it offers them wherever they can strike:
//
//	crash     a process dies with a request pending or its answer under way, and comes back
//	stale     the same, and it comes back to lists from a lagging server
//	conflict  a write is answered 409 without having been executed
//	throttle  a request is answered 429
//	error     a request is answered 500
//	lost      a write is executed and answered 504
//	relist    a watch breaks and the process lists again, missing what happened in between
//	resync    every cached object is delivered again, unchanged
type Budget struct {
	cluster *Cluster
	left    [8]int
	names   map[string][8]string // process -> details, made once
}

// NewBudget returns a budget; counts are by fault name. It fails on a name that
// is not in [FaultNames].
func NewBudget(c *Cluster, counts map[string]int) (*Budget, error) {
	b := &Budget{cluster: c, names: map[string][8]string{}}
	for _, name := range sortedKeys(counts) {
		i := slices.Index(FaultNames, name)
		if i < 0 {
			return nil, fmt.Errorf("unknown fault %q", name)
		}
		b.left[i] = counts[name]
	}
	return b, nil
}

const (
	faultCrash = iota
	faultStale
	faultConflict
	faultThrottle
	faultError
	faultLost
	faultRelist
	faultResync
)

// mostStale is how many writes ago the lists of a lagging server may be from.
const mostStale = 4

// Name is "faults".
func (b *Budget) Name() string { return "faults" }

// Offer lists the faults that can strike now. Slot is process*8+fault.
func (b *Budget) Offer(into []sim.Action) []sim.Action {
	for i, p := range b.cluster.processes {
		if p.Down {
			continue
		}
		names := b.detailsOf(p)
		for f := range b.left {
			if b.left[f] > 0 && b.strikes(p, f) {
				into = append(into, sim.Action{Class: sim.Fault, Actor: "faults", Detail: names[f], Slot: i*8 + f})
			}
		}
	}
	return into
}

func (b *Budget) detailsOf(p *Process) [8]string {
	d, ok := b.names[p.Name]
	if !ok {
		for f, name := range FaultNames {
			d[f] = name + " " + p.Name
		}
		b.names[p.Name] = d
	}
	return d
}

// strikes reports whether a fault makes a difference to a process now.
func (b *Budget) strikes(p *Process, fault int) bool {
	switch fault {
	case faultCrash, faultStale:
		_, _, ok := p.Asking()
		return ok
	case faultRelist, faultResync:
		return slices.ContainsFunc(p.order, p.breaks(fault))
	default:
		return slices.ContainsFunc(p.workers, fails(fault))
	}
}

// fails says whose pending request a fault can answer.
func fails(fault int) func(*worker) bool {
	return func(w *worker) bool {
		if w.state != asking {
			return false
		}
		switch w.req.Verb {
		case fakeapi.Get, fakeapi.List:
			return fault != faultConflict && fault != faultLost
		case fakeapi.Delete, fakeapi.DeleteCollection:
			return fault != faultConflict || w.req.Delete.Preconditions != nil && w.req.Delete.Preconditions.ResourceVersion != nil
		}
		return true
	}
}

// breaks says which watches a relist or a resync makes a difference to.
func (p *Process) breaks(fault int) func(*informer) bool {
	return func(i *informer) bool {
		if fault == faultRelist {
			return i.synced && i.pending() > 1 && len(i.backlog) == 0
		}
		return p.synced && i.synced && i.pending() == 0 && i.cache.items.Len() > 0
	}
}

// pick chooses one of those that a fault can strike.
func pick[T any](w *sim.World, from []T, strikes func(T) bool, label string) T {
	var those []T
	for _, x := range from {
		if strikes(x) {
			those = append(those, x)
		}
	}
	return those[w.Pick(len(those), label)]
}

// Take lets one fault strike.
func (b *Budget) Take(a sim.Action) {
	p, fault := b.cluster.processes[a.Slot/8], a.Slot%8
	b.left[fault]--
	switch fault {
	case faultCrash:
		p.Crash(true)
	case faultStale:
		p.Crash(true)
		back := 1 + uint64(b.cluster.world.Pick(mostStale, "how stale"))
		p.from = max(b.cluster.server.Version()-min(back, b.cluster.server.Version()-1), 1)
	case faultRelist:
		p.Relist(pick(b.cluster.world, p.order, p.breaks(fault), "relist").kind)
	case faultResync:
		p.Resync(pick(b.cluster.world, p.order, p.breaks(fault), "resync").kind)
	default:
		b.failNext(p, fault)
	}
}

// failNext answers the pending request of a process with an error.
func (b *Budget) failNext(p *Process, fault int) {
	f := Fault{Code: map[int]int{faultConflict: 409, faultThrottle: 429, faultError: 500, faultLost: 504}[fault], Commits: fault == faultLost}
	w := pick(p.cluster.world, p.workers, fails(fault), "request")
	p.cluster.fact(p, FaultNames[fault], string(w.req.Verb)+" "+w.req.Name)
	w.executeFailing(&f)
}

// Footprint says that faults touch everything.
func (b *Budget) Footprint(sim.Action) sim.Footprint { return sim.Footprint{Global: true} }

// Digest folds what is left.
func (b *Budget) Digest(h *sim.Hash) {
	for _, n := range b.left {
		h.Word(uint64(n))
	}
	if b.left[faultStale] > 0 {
		b.cluster.digestLast(mostStale, h)
	}
}
