package host

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

var faults = []*fault{crash, stale, conflict, throttle, failure, lost, relist, resync, slow}

// FaultNames lists the names that [Cluster.NewBudget] accepts. Recorded schedules depend on the order of the names.
var FaultNames = func() (names []string) {
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}()

// budget is an actor that injects a limited number of faults into a run.
type budget struct {
	cluster *Cluster
	left    []int               // number of faults that may still happen, in the order of [FaultNames]
	details map[string][]string // process name -> Details of its fault actions ("crash web"), in order of FaultNames
}

// NewBudget returns an actor that injects faults where they make a difference. counts has the maximal number of faults
// for each name. A name that is not in [FaultNames] is an error. The faults are:
//
//	crash     a process crashes while a request waits to be executed or answered, and restarts; a whole
//	          program crashes only after it has sent a request other than a list or a watch
//	stale     like crash, but the first lists after the restart come from a lagging server
//	conflict  a write is answered 409 without having been executed
//	throttle  a request is answered 429
//	error     a request is answered 500
//	lost      a write is executed and answered 504
//	relist    a watch breaks; the process lists again and misses the events in between
//	resync    every cached object is delivered again, unchanged
//	slow      each of the next 100 writes of the process takes one or two seconds
func (c *Cluster) NewBudget(counts map[string]int) (sim.Actor, error) {
	b := &budget{cluster: c, left: make([]int, len(faults)), details: map[string][]string{}}
	for _, name := range sortedKeys(counts) {
		i := slices.Index(FaultNames, name)
		if i < 0 {
			return nil, fmt.Errorf("unknown fault %q", name)
		}
		b.left[i] = counts[name]
	}
	return b, nil
}

func (b *budget) Name() string { return "faults" }

// Offer lists the faults that would make a difference now. An action's Slot encodes the process and the fault.
func (b *budget) Offer(into []sim.Action) []sim.Action {
	for i, p := range b.cluster.processes {
		if p.Down {
			continue
		}
		details := b.detailsOf(p)
		for j, f := range faults {
			if b.left[j] > 0 && f.strikes(p) {
				slot := i*len(faults) + j
				into = append(into, sim.Action{Class: sim.Fault, Actor: "faults", Detail: details[j], Slot: slot})
			}
		}
	}
	return into
}

func (b *budget) detailsOf(p *Process) []string {
	d, ok := b.details[p.Name]
	if !ok {
		for _, f := range faults {
			d = append(d, f.name+" "+p.Name)
		}
		b.details[p.Name] = d
	}
	return d
}

func (b *budget) Take(a sim.Action) {
	i, j := a.Slot/len(faults), a.Slot%len(faults)
	b.left[j]--
	faults[j].strike(b.cluster.processes[i])
}

func (b *budget) Footprint(sim.Action) sim.Footprint { return sim.Footprint{Global: true} }

func (b *budget) Digest(h *sim.Hash) {
	for _, n := range b.left {
		h.Word(uint64(n))
	}
	for j, f := range faults {
		if b.left[j] > 0 && f.digest != nil {
			f.digest(b.cluster, h)
		}
	}
}
