package explore

import (
	"errors"
	"testing"
)

// chain returns a program with a bug of depth 2: its second thread must run between two adjacent steps of its long
// first thread.
func chain(length int) *toyWorld {
	var long, short []instr
	for i := range length {
		if i == length-2 {
			long = append(long, instr{"write", "v1", 1})
		}
		long = append(long, instr{"send", "own", 0})
	}
	long = append(long, instr{"write", "v1", 0})
	for range length / 2 {
		short = append(short, instr{"send", "mine", 0})
	}
	short = append(short, instr{"read", "v1", 0}, instr{"write", "v2", 0}, instr{"expect", "v2", 0})
	return &toyWorld{threads: [][]instr{long, short}}
}

func TestPCTMeetsItsBound(t *testing.T) {
	toy := chain(12)
	const runs = 4000
	const k = 24 // the number of steps in a run without a violation
	hits, bound := 0, 0.0
	for seed := range uint64(runs) {
		p := NewPCT(seed, 2, k)
		if out := toy.run(p); len(out.Findings) > 0 {
			hits++
		}
		if b := p.Bound(); b > 0 {
			bound = b
		}
	}
	if want := 1.0 / (2 * float64(k)); bound != want {
		t.Errorf("bound %g, want 1/(n k) = %g", bound, want)
	}
	if got := float64(hits) / runs; got < bound {
		t.Errorf("PCT found the bug in %.4f of the runs, its bound is %.4f", got, bound)
	}
	t.Logf("found in %d of %d runs", hits, runs)
}

func TestPCTWithoutChangesRunsOneThreadToItsEnd(t *testing.T) {
	toy := &toyWorld{threads: adders(3, 2).threads}
	for seed := range uint64(50) {
		r := Record(NewPCT(seed, 1, 20))
		toy.run(r)
		switches := 0
		s := r.Schedule()
		for i := 1; i < len(s); i++ {
			if s[i].Action.Actor != s[i-1].Action.Actor {
				switches++
			}
		}
		if switches != 2 {
			t.Errorf("seed %d: %d switches: %q", seed, switches, s.Keys())
		}
	}
}

func TestPCTDoesNotStarve(t *testing.T) {
	toy := &toyWorld{threads: [][]instr{
		{{"write", "v0", 1}, {"jump", "", 0}},
		{{"expect", "v1", 1}},
	}}
	for seed := range uint64(50) {
		if out := toy.run(NewPCT(seed, 1, 20)); len(out.Findings) == 0 {
			t.Errorf("seed %d: the second thread never ran", seed)
		}
	}
}

func TestPCTTakesFaultsAndLeavesThem(t *testing.T) {
	toy := &toyWorld{threads: adders(2, 1).threads, faults: 3}
	taken := map[int]int{}
	for seed := range uint64(200) {
		r := Record(NewPCT(seed, 1, 8))
		toy.run(r)
		taken[r.Schedule().Faults()]++
	}
	if taken[0] == 0 || taken[1] == 0 || taken[2] == 0 {
		t.Errorf("runs by number of faults: %v", taken)
	}
}

func TestPlan(t *testing.T) {
	p := Plan{Strategy: Mixed, Seed: 9, Steps: 10}
	var names []string
	for i := range 8 {
		_, name := p.At(i)
		names = append(names, name)
	}
	want := []string{"random", "pct 1", "random", "pct 2", "random", "pct 3", "random", "pct 1"}
	for i := range want {
		if names[i] != want[i] {
			t.Fatalf("plan %q, want %q", names, want)
		}
	}
	for s := range numStrategies {
		if got, err := ParseStrategy(s.String()); err != nil || got != s {
			t.Errorf("ParseStrategy(%q) = %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("uniform"); err == nil {
		t.Error("a strategy that does not exist was accepted")
	}
}

func TestCommute(t *testing.T) {
	pairs := 0
	for seed := range uint64(60) {
		toy := randomToy(seed)
		toy.limit = 100
		n, err := Commute(toy.run, 20, seed)
		if err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		pairs += n
	}
	if pairs < 300 {
		t.Errorf("compared only %d pairs", pairs)
	}
	for name, threads := range map[string][][]instr{
		"one disables the other": {{{"lock", "m", 0}}, {{"lock", "m", 0}}},
		"the states differ":      {{{"write", "v0", 1}}, {{"write", "v0", 2}}},
	} {
		toy := &toyWorld{claim: true, threads: threads}
		var c *Conflict
		if _, err := Commute(toy.run, 50, 1); !errors.As(err, &c) || c.Why != name {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}
