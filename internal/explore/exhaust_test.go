package explore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// brute is a reference enumeration that shares no code with the search. It replays a list of picks, and extends it by
// each possible next pick. It cuts a path only where a state recurs. The state includes the program's progress.
type brute struct {
	toy    *toyWorld
	states map[uint64]bool
	labels map[string]bool
	laws   map[string]bool
	prefix []int
	pos    int
	grew   int // the number of alternatives of the first choice after the prefix
	dead   bool
	done   int
	bound  int // the maximal number of early timers in a run
	early  int
}

func (b *brute) Ended() bool { return b.dead }

func (b *brute) choose(n int) int {
	if b.dead || n < 1 {
		return 0
	}
	if b.pos < len(b.prefix) {
		b.pos++
		return b.prefix[b.pos-1]
	}
	b.grew, b.dead = n, true
	return 0
}

func (b *brute) Pick(n int, _ string) int { return b.choose(n) }

func (b *brute) Next(w *sim.World, e []sim.Action) int {
	if b.dead {
		return -1
	}
	if b.pos == len(b.prefix) {
		// b.done counts the chosen actions. The other steps are steps of the program itself.
		var h sim.Hash
		h.Word(w.StateHash())
		h.Word(uint64(w.Steps() - b.done))
		if b.bound >= 0 {
			h.Word(uint64(b.early))
		}
		if b.states[uint64(h)] {
			b.dead = true
			return -1
		}
		b.states[uint64(h)] = true
	}
	allowed := []int{}
	if e[0].Class == sim.Fault {
		allowed = append(allowed, -1)
	}
	early := func(i int) bool { return e[i].Class == sim.Timer && e[0].Class < sim.Timer }
	for i := range e {
		if !early(i) || b.bound < 0 || b.early < b.bound {
			allowed = append(allowed, i)
		}
	}
	i := allowed[b.choose(len(allowed))]
	if b.dead {
		return -1
	}
	if i >= 0 {
		b.done++
		if early(i) {
			b.early++
		}
	}
	return i
}

func (b *brute) explore(prefix []int) {
	if len(b.states) > maxBrute {
		return
	}
	b.prefix, b.pos, b.grew, b.dead, b.done, b.early = prefix, 0, 0, false, 0, 0
	out := b.toy.run(b)
	for _, x := range out.Findings {
		b.laws[x.Law] = true
	}
	if !b.dead {
		b.labels[out.Label] = true
	}
	for i := range b.grew {
		b.explore(append(slices.Clone(prefix), i))
	}
}

// found contains the results of a search.
type found struct {
	states map[uint64]bool
	labels []string
	laws   []string
}

// maxBrute is the maximal number of states of a world that is compared.
const maxBrute = 250

func bruteForce(toy *toyWorld, early int) found {
	b := &brute{toy: toy, bound: early, states: map[uint64]bool{}, labels: map[string]bool{}, laws: map[string]bool{}}
	b.explore(nil)
	return found{b.states, slices.Sorted(maps.Keys(b.labels)), slices.Sorted(maps.Keys(b.laws))}
}

func searched(t *testing.T, x Exhaust) (found, *Coverage) {
	t.Helper()
	states := map[uint64]bool{}
	run := x.Program
	x.Program = func(c sim.Choices) *Outcome { return run(&spy{search: c.(*search), states: states}) }
	x.All = true
	cover, err := x.Run()
	if err != nil {
		t.Fatal(err)
	}
	f := found{states: states}
	for _, r := range cover.Outcomes.Rows() {
		f.labels = append(f.labels, r.Label)
	}
	slices.Sort(f.labels)
	for _, b := range cover.Failures {
		f.laws = append(f.laws, b.Violation.Law)
	}
	slices.Sort(f.laws)
	return f, cover
}

// spy records every state in which the search makes a decision.
type spy struct {
	*search
	states map[uint64]bool
}

func (s *spy) Next(w *sim.World, e []sim.Action) int {
	var h sim.Hash
	h.Word(w.StateHash())
	h.Word(uint64(w.Steps() - s.taken))
	if s.Early >= 0 {
		h.Word(uint64(s.early))
	}
	s.states[uint64(h)] = true
	return s.search.Next(w, e)
}

func TestReductionsAgreeWithBruteForce(t *testing.T) {
	ways := []struct {
		name string
		x    Exhaust
	}{
		{"hashing and sleep sets", Exhaust{}},
		{"hashing and sleep sets, writes commuting", Exhaust{CommutingWrites: true}},
		{"hashing", Exhaust{NoSleep: true}},
		{"sleep sets", Exhaust{NoHashing: true}},
		{"naive", Exhaust{NoHashing: true, NoSleep: true}},
		{"one early timer", Exhaust{Early: 1}},
		{"one early timer, naive", Exhaust{Early: 1, NoHashing: true, NoSleep: true}},
		{"early timers", Exhaust{Early: -1}},
		{"early timers, sleep sets", Exhaust{Early: -1, NoHashing: true}},
	}
	compared := make([]int, len(ways))
	for seed := range worlds(100, 300) {
		toy := randomToy(seed)
		reference := map[int]found{}
		for early := -1; early <= 1; early++ {
			if early == 0 || toy.sleeps() {
				reference[early] = bruteForce(toy, early)
			}
		}
		for i, way := range ways {
			x := way.x
			want, ok := reference[x.Early]
			if !ok || len(want.states) > maxBrute {
				continue
			}
			x.Program = toy.run
			if x.NoHashing {
				x.MaxSteps, x.MaxRuns = 60, 500
			}
			got, cover := searched(t, x)
			if x.NoHashing && !cover.Complete {
				continue
			}
			compared[i]++
			if !cover.Complete && (len(want.labels) > 0 || cover.Stopped != noSchedule) {
				t.Fatalf("seed %d, %s: %s", seed, way.name, cover)
			}
			if !maps.Equal(got.states, want.states) {
				t.Errorf("seed %d, %s: %d states, want %d", seed, way.name, len(got.states), len(want.states))
			}
			if !slices.Equal(got.labels, want.labels) {
				t.Errorf("seed %d, %s: final states %q, want %q", seed, way.name, got.labels, want.labels)
			}
			if !slices.Equal(got.laws, want.laws) {
				t.Errorf("seed %d, %s: laws %q, want %q", seed, way.name, got.laws, want.laws)
			}
		}
	}
	for i, way := range ways {
		least := 25
		if way.x.Early != 0 {
			least = 12 // only some worlds have a thread that sleeps
		}
		if compared[i] < least {
			t.Errorf("%s: compared only %d worlds", way.name, compared[i])
		}
	}
	t.Logf("worlds compared: %v", compared)
}

func TestReductionsReduce(t *testing.T) {
	toy := adders(3, 2)
	run := func(x Exhaust) *Coverage {
		x.Program, x.All = toy.run, true
		cover, err := x.Run()
		if err != nil || !cover.Complete {
			t.Fatal(cover, err)
		}
		return cover
	}
	naive := run(Exhaust{NoHashing: true, NoSleep: true})
	// Three threads of four steps each.
	if want := 34650; naive.Schedules != want {
		t.Errorf("naive search made %d schedules, want 12!/(4!)^3 = %d", naive.Schedules, want)
	}
	sleep := run(Exhaust{NoHashing: true, CommutingWrites: true})
	hashed := run(Exhaust{NoSleep: true})
	both := run(Exhaust{CommutingWrites: true})
	if !(sleep.Schedules*50 < naive.Schedules) {
		t.Errorf("sleep sets made %d schedules of %d", sleep.Schedules, naive.Schedules)
	}
	if both.States != hashed.States || both.Transitions >= hashed.Transitions {
		t.Errorf("sleep sets save no transitions, or lose states; both: %s; hashing alone: %s", both, hashed)
	}
	t.Logf("\nnaive  %s\nsleep  %s\nhash   %s\nboth   %s", naive, sleep, hashed, both)
}

// A violation that needs early timers is found if the bound allows enough of them. The coverage contains the bound.
func TestExhaustBoundsEarlyTimers(t *testing.T) {
	toy := &toyWorld{threads: [][]instr{
		{{"sleep", "", 1}, {"send", "q", 0}, {"sleep", "", 1}, {"write", "v0", 1}},
		{{"expect", "v0", 0}},
	}}
	for early, want := range []string{"timers that fire while other actions are possible",
		"more than 1 early timers in a run", "more than 2 early timers in a run"} {
		cover, err := Exhaust{Program: toy.run, Early: early, All: true}.Run()
		if err != nil || !cover.Complete || cover.Fixed[0] != want {
			t.Fatal(early, cover, err)
		}
		if found := len(cover.Failures) > 0; found != (early == 2) {
			t.Errorf("%d early timers: %v", early, cover.Failures)
		}
	}
}

func TestExhaustStopsAtTheFirstViolation(t *testing.T) {
	toy := adders(2, 0)
	cover, err := Exhaust{Program: toy.run}.Run()
	if err != nil || cover.Complete || len(cover.Failures) != 1 {
		t.Fatal(cover, err)
	}
	f := cover.Failures[0]
	k := Replay(f.Schedule)
	out := toy.run(Record(k))
	if k.Err() != nil || len(out.Findings) != 1 || out.Hash != f.Outcome.Hash {
		t.Errorf("replay of %q: %+v, %v", f.Schedule.Keys(), out, k.Err())
	}
}

func TestExhaustReportsWhyItStopped(t *testing.T) {
	loop := &toyWorld{threads: [][]instr{{{"send", "v0", 0}, {"jump", "", 0}}}}
	for name, c := range map[string]struct {
		x    Exhaust
		want string
	}{
		"steps":  {Exhaust{MaxSteps: 30, NoHashing: true}, "bound of 30 steps"},
		"states": {Exhaust{MaxStates: 10}, "bound of 10 states"},
		"runs":   {Exhaust{Program: adders(3, 1).run, All: true, MaxRuns: 5}, "bound of 5 runs"},
		"user":   {Exhaust{Stop: func() string { return "interrupted" }}, "interrupted"},
	} {
		if c.x.Program == nil {
			c.x.Program = loop.run
		}
		if name == "states" {
			c.x.Program = adders(3, 1).run
			c.x.All = true
		}
		cover, err := c.x.Run()
		if err != nil || cover.Complete || cover.Stopped != c.want {
			t.Errorf("%s: %v %v", name, cover, err)
		}
	}
}

// A search of a world that only cycles is incomplete, and reports a livelock.
func TestCyclesEndTheSearch(t *testing.T) {
	toy := &toyWorld{threads: [][]instr{
		{{"write", "v0", 1}, {"jump", "", 0}},
		{{"write", "v0", 2}, {"jump", "", 0}},
	}}
	cover, err := Exhaust{Program: toy.run}.Run()
	if err != nil || cover.Complete || cover.Stopped != noSchedule || cover.Cycles == 0 || cover.Livelocks == 0 ||
		cover.Livelock == "" {
		t.Errorf("%s, %d cycles, %v", cover, cover.Cycles, err)
	}
}

// A cycle that starves an enabled action is not a livelock, because only this schedule causes it. The search finds two
// cycles here, before the write and after it. Only the second is a livelock.
func TestUnfairCyclesAreNoLivelock(t *testing.T) {
	toy := &toyWorld{threads: [][]instr{
		{{"reset", "", 0}, {"jump", "", 0}},
		{{"write", "v0", 2}},
	}}
	cover, err := Exhaust{Program: toy.run, NoSleep: true}.Run()
	if err != nil || cover.Livelocks == 0 || cover.Livelocks >= cover.Cycles {
		t.Errorf("%s, %d cycles, %v", cover, cover.Cycles, err)
	}
}

// A search is incomplete if a fight cut a run short, or if a run reached the program's bound.
func TestCutRunsAreNotCovered(t *testing.T) {
	toy := adders(2, 0)
	for name, spoil := range map[string]func(*Outcome){
		"cut short by a fight":    func(o *Outcome) { o.Cut = true },
		"the program's own bound": func(o *Outcome) { o.Settled = false },
	} {
		n := 0
		cover, err := Exhaust{All: true, Program: func(c sim.Choices) *Outcome {
			out := toy.run(c)
			out.Findings = nil
			if n++; n == 1 {
				spoil(out)
			}
			return out
		}}.Run()
		if err != nil || cover.Complete || cover.Schedules == 0 || !strings.Contains(cover.Stopped, name) {
			t.Errorf("%s: %s, %v", name, cover, err)
		}
	}
}

// If a part of the world has no digest, the error names this part.
func TestUndigestedIsRejected(t *testing.T) {
	toy := adders(2, 0)
	program := func(c sim.Choices) *Outcome {
		w, _, _ := toy.start(c)
		w.Observers = append(w.Observers, &diary{})
		for w.Step() {
		}
		return &Outcome{Settled: !Ended(c)}
	}
	var undigested *Undigested
	if cover, err := (Exhaust{Program: program}).Run(); !errors.As(err, &undigested) ||
		undigested.Name != "*explore.diary" || cover.Complete {
		t.Errorf("%v, %v", cover, err)
	}
	if _, err := (Exhaust{Program: program, NoHashing: true}).Run(); err != nil {
		t.Error(err)
	}
}

// diary is an observer that has a state but no method Digest.
type diary struct{ seen int }

func (d *diary) Observe(*sim.Record) { d.seen++ }

func TestWrongFootprintIsFound(t *testing.T) {
	toy := &toyWorld{claim: true, threads: [][]instr{
		{{"lock", "m", 0}, {"unlock", "m", 0}},
		{{"lock", "m", 0}, {"unlock", "m", 0}},
	}}
	_, err := Exhaust{Program: toy.run}.Run()
	var wrong *Dependence
	if !errors.As(err, &wrong) {
		t.Errorf("err = %v", err)
	}
}

func TestExhaustDetectsDisagreement(t *testing.T) {
	runs := 0
	_, err := Exhaust{All: true, Program: func(c sim.Choices) *Outcome {
		runs++
		return adders(2+runs/3%2, 0).run(c)
	}}.Run()
	var d *Disagreement
	if !errors.As(err, &d) {
		t.Errorf("err = %v", err)
	}
}

func TestVisitedNarrows(t *testing.T) {
	v := newVisited()
	v.enter(1, []uint64{10, 20, 30})
	v.enter(2, nil)
	v.enter(3, []uint64{40})
	v.narrow(1, []uint64{30, 99, 10})
	v.narrow(2, []uint64{1})
	for state, want := range map[uint64]string{1: "[10 30] true", 2: "[] true", 3: "[40] true", 4: "[] false"} {
		set, known := v.sleep(state)
		if got := fmt.Sprint(set, known); got != want {
			t.Errorf("state %d: %s, want %s", state, got, want)
		}
	}
}
