package simtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/controllers/mutants"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// Exhaustive search requires that an action leads from a state to exactly one state, whatever happened before. Random
// runs test this, so the worlds need not be small. A failure shows what a digest omits.
//
// Only runs with the same writes in the same order are compared, because other writes change the revisions. A state
// does not contain revisions, unless an object contains one (the status of a CronJob contains those of its Jobs).

// follower makes random choices, and records the state to which each action leads.
type follower struct {
	sim.Chooser
	taken, left int
	read        int      // the number of records that were read
	writes      sim.Hash // a hash of the writes in order
	from        uint64   // a hash of the state before the last action, the action, and its picks
	path        []string
	led         func(from, to uint64)
}

func (f *follower) ComparesStates() bool { return true }

// Pick adds the value to the effect of the current action.
func (f *follower) Pick(n int, label string) int {
	i := f.Chooser.Pick(n, label)
	f.choose(fmt.Sprintf("%s: %d of %d", label, i, n))
	return i
}

func (f *follower) Next(w *sim.World, enabled []sim.Action) int {
	state := f.state(w)
	if len(f.path) > 0 {
		f.led(f.from, state)
	}
	f.from = sim.Mix(state + f.written(w))
	i := f.Chooser.Next(w, enabled)
	if i < 0 {
		f.left++
		f.choose("leave")
	} else {
		f.taken++
		f.choose(enabled[i].Key())
	}
	return i
}

func (f *follower) choose(what string) {
	f.path = append(f.path, what)
	f.from = sim.Mix(f.from + sim.HashString(what))
}

func (f *follower) written(w *sim.World) uint64 {
	for ; f.read < w.History.Len(); f.read++ {
		if r := w.History.At(f.read); r.Op == sim.Commit {
			f.writes.String(r.Object.String())
			f.writes.Word(r.Version)
		}
	}
	return uint64(f.writes)
}

// state returns the digest by which a search recognizes a state.
func (f *follower) state(w *sim.World) uint64 {
	var h sim.Hash
	h.Word(w.StateHash())
	h.Word(uint64(w.Steps()-f.taken)<<32 | uint64(f.left))
	for _, o := range w.Observers {
		if d, ok := o.(sim.Digester); ok {
			d.Digest(&h)
		}
	}
	return uint64(h)
}

// end returns a digest of the outcome of a run.
func end(out *explore.Outcome) uint64 {
	var h sim.Hash
	h.Word(out.State)
	for _, f := range out.Findings {
		h.String(f.Law)
	}
	return uint64(h)
}

// follows runs schedules of a program. It returns the number of different steps. If a step led to two states, it
// describes the first such step.
func follows(p *scenarios.Script, schedules int) (steps int, wrong string) {
	type place struct {
		state uint64
		path  string
	}
	p.States = true
	to := map[uint64]place{}
	for i := range schedules {
		var c sim.Chooser = &patient{Seed: sim.NewSeed(explore.SeedAt(1, i))}
		if i%2 == 1 {
			c = explore.NewUniform(explore.SeedAt(1, i))
		}
		f := &follower{Chooser: c}
		f.led = func(from, state uint64) {
			was, ok := to[from]
			switch {
			case !ok:
				to[from] = place{state, strings.Join(f.path, ", ")}
			case was.state != state && wrong == "":
				wrong = fmt.Sprintf("one state, two ways on:\n%s\n%s", was.path, strings.Join(f.path, ", "))
			}
		}
		if out := p.Run(f); out.Settled && !out.Cut {
			f.led(f.from, end(out))
		}
	}
	return len(to), wrong
}

// Whether a world counts as settled depends on earlier heartbeats, so these must be part of the state.
func TestHeartbeatsArePartOfTheState(t *testing.T) {
	for _, f := range shipped(t, full()) {
		if filepath.Base(f.Name) != "set-deleted-then-made-again.txtar" {
			continue
		}
		until, _ := script(f)
		n := &tally{}
		p := &proof{size: size{states: 1000, naive: 100, random: 100}, Script: scenarios.Script{
			File: f, Registry: full(), Until: until, Faults: map[string]int{"relist": 1}}}
		if p.prove(t, f.Name, n); n.proved.Load() != 1 {
			t.Error(n)
		}
		if _, wrong := follows(&p.Script, 100); wrong != "" {
			t.Error(wrong)
		}
		return
	}
	t.Error("there is no such file")
}

func TestAStateDecidesWhatFollows(t *testing.T) {
	every, schedules, g, steps := 40, 12, full(), 0
	if os.Getenv("SOAK") != "" {
		every, schedules = 1, 100
	}
	hold := func(p *scenarios.Script, name string) {
		n, wrong := follows(p, schedules)
		if steps += n; wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	for _, f := range shipped(t, g) {
		until, names := script(f)
		for _, fault := range append([]string{""}, host.FaultNames...) {
			p := &scenarios.Script{File: f, Registry: g, Until: until}
			if fault != "" {
				p.Faults = map[string]int{fault: 2}
			}
			if chosen(f.Name+" follows "+fault, every) {
				hold(p, f.Name+" "+fault)
			}
		}
		for _, name := range names {
			k := slices.IndexFunc(mutants.All(), func(m host.Mutant) bool { return m.Name == name })
			if k < 0 || !chosen(f.Name+" follows "+name, every) {
				continue
			}
			c := mutants.All()[k].Make()
			hold(&scenarios.Script{File: f, Registry: g, Until: until,
				Replace: map[string]host.Controller{c.Name: c}}, f.Name+" "+name)
		}
	}
	if t.Logf("%d steps", steps); steps < 20_000 {
		t.Errorf("only %d steps were compared", steps)
	}
}
