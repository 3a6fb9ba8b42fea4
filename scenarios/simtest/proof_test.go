package simtest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/threelaws/threelaws/controllers/mutants"
	"github.com/threelaws/threelaws/controllers/reaper"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// This test checks exhaustive search. On small worlds, it must find the same settled states and violations as a search
// without reductions, and all those of random schedules. A world for which a bound is reached proves nothing, and is
// counted separately.

// size says how much is tested: a sample by default, everything with SOAK.
type size struct {
	files  int // one in this many scenario files
	every  int // one in this many mutants and faults
	worlds int // the number of generated worlds
	states int // the maximal number of states in a search
	naive  int // the maximal number of runs in a search without state hashing
	random int // the number of random schedules
	least  int // the minimal number of scenario files that must be proved without faults
}

var sizes = map[bool]size{
	false: {files: 8, every: 20, worlds: 6, states: 300, naive: 100, random: 40, least: 8},
	true:  {files: 1, every: 1, worlds: 100, states: 40_000, naive: 5000, random: 1000, least: 60},
}

func proofSize() size { return sizes[os.Getenv("SOAK") != ""] }

// proof is a script to search.
type proof struct {
	scenarios.Script
	size
}

// reached is the result of a search: the settled states, and the laws that were violated first.
type reached struct {
	ends map[uint64]bool
	laws map[string]bool
}

func (r *reached) note(out *explore.Outcome, ended bool) {
	if out.Cut {
		r.laws["fight"] = true
	} else if len(out.Findings) > 0 {
		r.laws[out.Findings[0].Law] = true
	} else if !ended && out.Settled {
		r.ends[out.State] = true
	}
}

// lacks describes what only the other result contains.
func (r *reached) lacks(other *reached) string {
	for law := range other.laws {
		if !r.laws[law] {
			return "a run that breaks " + law
		}
	}
	for state := range other.ends {
		if !r.ends[state] {
			return fmt.Sprintf("end state %016x of %d", state, len(other.ends))
		}
	}
	return ""
}

func newReached() *reached { return &reached{ends: map[uint64]bool{}, laws: map[string]bool{}} }

// search searches exhaustively. It returns nil if a bound is reached.
func (p *proof) search(x explore.Exhaust) (r *reached, c *explore.Coverage, err error) {
	r = newReached()
	x.All, x.MaxStates = true, p.states
	if x.NoHashing {
		x.MaxStates, x.MaxRuns, x.MaxSteps = 0, p.naive, 400
	} else {
		x.MaxRuns = p.states / 2
		if x.NoSleep {
			x.MaxRuns = 10 * p.states
		}
	}
	x.Program = func(c sim.Choices) *explore.Outcome {
		out := p.Run(c)
		r.note(out, explore.Ended(c))
		return out
	}
	c, err = x.Run()
	return r, c, err
}

// draw runs random schedules, with or without early timers.
func (p *proof) draw(early bool) *reached {
	r := newReached()
	for i := range p.random {
		var c sim.Chooser = explore.NewUniform(explore.SeedAt(1, i))
		if !early {
			c = &patient{Seed: sim.NewSeed(explore.SeedAt(1, i))}
		}
		r.note(p.Run(comparing{c}), false)
	}
	return r
}

// patient draws uniformly among the enabled actions. Time passes only if no other action is enabled.
type patient struct {
	*sim.Seed
	may []int
}

func (p *patient) Next(_ *sim.World, enabled []sim.Action) int {
	p.may = p.may[:0]
	for i, a := range enabled {
		if a.Class != sim.Timer || enabled[0].Class == sim.Timer {
			p.may = append(p.may, i)
		}
	}
	switch {
	case len(p.may) == 0:
		return -1
	case enabled[0].Class == sim.Fault:
		return p.Pick(len(enabled)+1, "fault") - 1
	}
	return p.may[p.Pick(len(p.may), "next")]
}

// comparing makes the final states of its runs comparable.
type comparing struct{ sim.Chooser }

func (comparing) ComparesStates() bool { return true }

// tally counts the results. Worlds are searched in parallel.
type tally struct{ proved, naive, early, bounded, livelocked, refused atomic.Int32 }

// prove compares the searches of one world. It returns the number of states, or 0 if the world proves nothing.
func (p *proof) prove(t *testing.T, name string, n *tally) (states int) {
	p.States = true
	all, cover, err := p.search(explore.Exhaust{})
	var undigested *explore.Undigested
	switch {
	case errors.As(err, &undigested):
		n.refused.Add(1)
		return 0
	case err != nil:
		t.Errorf("%s: %v", name, err)
		return 0
	case cover.Livelocks > 0:
		n.livelocked.Add(1)
		return 0
	case !cover.Complete:
		n.bounded.Add(1)
		return 0
	}
	n.proved.Add(1)
	if what := all.lacks(p.draw(false)); what != "" {
		t.Errorf("%s: random schedules reach what the exhaustive search does not: %s\n%s", name, what, cover)
	}
	for _, x := range []explore.Exhaust{{NoSleep: true}, {NoHashing: true}} {
		other, c, err := p.search(x)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !c.Complete {
			continue // without the reduction, the world is too large
		}
		reduction := "sleep sets"
		if x.NoHashing {
			reduction = "state hashing"
			n.naive.Add(1)
		}
		if what := all.lacks(other); what != "" {
			t.Errorf("%s: a search with %s does not find %s", name, reduction, what)
		}
		if what := other.lacks(all); what != "" {
			t.Errorf("%s: only a search with %s finds %s", name, reduction, what)
		}
	}
	if all, c, err := p.search(explore.Exhaust{Early: -1}); err != nil {
		t.Errorf("%s: %v", name, err)
	} else if c.Complete {
		n.early.Add(1)
		if what := all.lacks(p.draw(true)); what != "" {
			t.Errorf("%s: random schedules with early timers reach what the exhaustive search does not: %s\n%s", name,
				what, c)
		}
	}
	return cover.States
}

func (n *tally) String() string {
	return fmt.Sprintf("%d proved, %d of them also without hashing and %d with any timer before its time; %d met a "+
		"bound, %d are livelocked, %d cannot be digested",
		n.proved.Load(), n.naive.Load(), n.early.Load(), n.bounded.Load(), n.livelocked.Load(), n.refused.Load())
}

// chosen reports whether a name belongs to a sample of one in every names. Other names do not affect the result.
func chosen(name string, every int) bool { return sim.HashString(name)%uint64(every) == 0 }

// script returns the number of steps before the first explore or mutant, and the mutants that the file names.
func script(f *scenarios.File) (until int, names []string) {
	until = -1
	for i, s := range f.Steps {
		if scenarios.FindVerb(s.Verb).Explores() && until < 0 {
			until = i
		}
		if s.Verb == "mutant" {
			names = append(names, s.Word(0))
		}
	}
	if until < 0 {
		until = len(f.Steps)
	}
	return until, names
}

// full is the registry with the mutants that files name.
func full() *scenarios.Registry {
	g := *registry
	g.Reaper = reaper.Controller
	g.Mutants = mutants.All()
	return &g
}

// shipped loads all scenario files.
func shipped(t *testing.T, g *scenarios.Registry) []*scenarios.File {
	var all []*scenarios.File
	err := filepath.WalkDir("../testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		f, err := scenarios.Load(path)
		if err == nil {
			err = f.Check(g)
		}
		all = append(all, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestExhaustiveIsExhaustive(t *testing.T) {
	s, plain, faulty, g := proofSize(), &tally{}, &tally{}, full()
	t.Run("files", func(t *testing.T) {
		for _, f := range shipped(t, g) {
			if !chosen(f.Name, s.files) {
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				until, _ := script(f)
				p := &proof{Script: scenarios.Script{File: f, Registry: g, Until: until}, size: s}
				states := p.prove(t, f.Name, plain)
				if states == 0 || states > s.states/3 {
					return // with a fault, a world has many more states
				}
				for _, name := range host.FaultNames {
					if chosen(f.Name+" "+name, s.every) {
						p.Faults, p.states = map[string]int{name: 1}, 3*s.states
						p.prove(t, f.Name+" "+name, faulty)
					}
				}
			})
		}
	})
	t.Log("without faults: ", plain)
	t.Log("with one: ", faulty)
	if int(plain.proved.Load()) < s.least {
		t.Errorf("only %d worlds were proved", plain.proved.Load())
	}
}

// If a mutant lacks a check, all searches find the same violations.
func TestExhaustiveIsExhaustiveForMutants(t *testing.T) {
	s, n, g := proofSize(), &tally{}, full()
	all := mutants.All()
	t.Run("files", func(t *testing.T) {
		for _, f := range shipped(t, g) {
			until, names := script(f)
			for _, name := range names {
				k := slices.IndexFunc(all, func(m host.Mutant) bool { return m.Name == name })
				if k < 0 || !chosen(f.Name+" "+name, (s.every+1)/2) {
					continue
				}
				t.Run(f.Name+" "+name, func(t *testing.T) {
					t.Parallel()
					ctl := all[k].Make()
					p := &proof{Script: scenarios.Script{File: f, Registry: g, Until: until,
						Replace: map[string]host.Controller{ctl.Name: ctl}}, size: s}
					p.prove(t, f.Name+" "+name, n)
				})
			}
		}
	})
	t.Log(n)
}

func TestExhaustiveIsExhaustiveOnGeneratedWorlds(t *testing.T) {
	s, n := proofSize(), &tally{}
	for _, controllers := range []string{"replicaset@controllerref replication@controllerref gc",
		"replicaset@selector replication@selector"} {
		w := generator{Controllers: controllers, Sets: 2, Orphans: 1, Actions: 2}
		for seed := range uint64(4 * s.worlds) {
			f, err := w.file(sim.NewSeed(seed))
			if err == nil {
				err = f.Check(registry)
			}
			if err != nil {
				t.Fatal(err)
			}
			if int(n.proved.Load()) >= s.worlds {
				break
			}
			p := &proof{Script: scenarios.Script{File: f, Registry: registry, Until: len(f.Steps)}, size: s}
			if seed%3 == 2 {
				p.Faults = map[string]int{host.FaultNames[seed%8]: 1}
			}
			p.prove(t, fmt.Sprint("generated ", seed), n)
		}
	}
	t.Log(n)
	if int(n.proved.Load()) < s.worlds {
		t.Errorf("only %d generated worlds were proved", n.proved.Load())
	}
}
