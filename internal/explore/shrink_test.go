package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// just returns a Shrinkable without parts.
func just(p Runner) Shrinkable { return Shrinkable{Without: func([]bool) Runner { return p }} }

func failing(t *testing.T, p Runner) (Violation, Schedule) {
	t.Helper()
	for seed := range uint64(2000) {
		r := Record(NewUniform(seed))
		if out := p(r); len(out.Findings) > 0 {
			return out.Findings[0], slices.Clone(r.Schedule())
		}
	}
	t.Fatal("no seed fails")
	return Violation{}, nil
}

// fewest enumerates all runs. It returns the minimal number of deviations in a run that violates the law.
func fewest(t *testing.T, p Runner, law string) int {
	t.Helper()
	best := 1 << 30
	x := Exhaust{NoHashing: true, NoSleep: true, All: true, Early: -1, MaxRuns: 60_000}
	x.Program = func(c sim.Choices) *Outcome {
		out := p(c)
		if len(out.Findings) > 0 && out.Findings[0].Law == law {
			best = min(best, c.(*search).schedule().Deviations())
		}
		return out
	}
	if cover, err := x.Run(); err != nil || !cover.Complete {
		t.Fatal(cover, err)
	}
	return best
}

func TestShrinkFindsTheFewestDeviations(t *testing.T) {
	for _, lines := range []int{0, 1, 2} {
		toy := adders(2, lines)
		violation, from := failing(t, toy.run)
		got, err := Shrink(just(toy.run), violation, from, 10_000)
		if err != nil || !got.Minimal {
			t.Fatal(got, err)
		}
		if want := fewest(t, toy.run, "FINAL"); got.Schedule.Deviations() != want {
			t.Errorf("%d lines: %d deviations, want %d: %q", lines, got.Schedule.Deviations(), want,
				got.Schedule.Keys())
		}
		k := Replay(got.Schedule)
		if out := toy.run(Record(k)); k.Err() != nil || out.Hash != got.Outcome.Hash {
			t.Errorf("the shrunk schedule does not replay: %v", k.Err())
		}
	}
}

// An early timer is a deviation. Of many early timers, only the timer that causes the violation is kept.
func TestShrinkKeepsTheEarlyTimer(t *testing.T) {
	toy := &toyWorld{threads: [][]instr{
		{{"sleep", "", 1}, {"write", "v0", 1}},
		{{"sleep", "", 2}, {"send", "own", 0}},
		{{"send", "mine", 0}, {"send", "mine", 0}, {"expect", "v0", 0}},
	}}
	if out := toy.run(Follow(nil)); len(out.Findings) > 0 {
		t.Fatal("the default schedule violates the law without an early timer")
	}
	violation, from := failing(t, toy.run)
	got, err := Shrink(just(toy.run), violation, from, 10_000)
	if err != nil || !got.Minimal {
		t.Fatal(got, err)
	}
	early := 0
	for _, e := range got.Schedule {
		if e.Action.Class == sim.Timer && !e.Default {
			early++
		}
	}
	if want := fewest(t, toy.run, violation.Law); early != 1 || got.Schedule.Deviations() != want {
		t.Errorf("%d early timers, %d deviations, want 1 and %d: %q", early, got.Schedule.Deviations(), want,
			got.Schedule.Keys())
	}
}

// removable returns a Shrinkable with five parts: an idle thread, a writer, a reader that expects v0 to be 0, a picker,
// and faults.
func removable() Shrinkable {
	threads := [][]instr{
		{{"send", "own", 0}, {"send", "own", 0}, {"send", "own", 0}},
		{{"read", "v0", 0}, {"write", "v0", 1}},
		{{"expect", "v0", 0}},
		{{"pick", "", 3}, {"write", "v1", 0}, {"expect", "v1", 0}},
	}
	return Shrinkable{
		Parts: []string{"bystander", "writer", "reader", "picker", "faults"},
		Without: func(removed []bool) Runner {
			toy := &toyWorld{}
			for i, code := range threads {
				if removed[i] {
					code = nil
				}
				toy.threads = append(toy.threads, code)
			}
			if !removed[4] {
				toy.faults = 2
			}
			if removed[0] && removed[1] && removed[2] && removed[3] {
				return nil
			}
			return toy.run
		},
	}
}

func TestShrinkRemovesPartsAndFaults(t *testing.T) {
	s := removable()
	whole := s.Without(make([]bool, len(s.Parts)))
	for seed := range uint64(300) {
		r := Record(NewUniform(seed))
		out := whole(r)
		if len(out.Findings) == 0 {
			continue
		}
		b := out.Findings[0]
		got, err := Shrink(s, b, slices.Clone(r.Schedule()), 10_000)
		if err != nil || !got.Minimal || !got.Violation.Same(b) {
			t.Fatal(got, err)
		}
		var left []string
		for i, gone := range got.Removed {
			if !gone {
				left = append(left, s.Parts[i])
			}
		}
		parts, keys := strings.Join(left, " "), fmt.Sprint(got.Schedule.Keys())
		switch b.Law {
		case "EXPECT-v0":
			// The reader fails because of either the writer or a fault.
			if !strings.Contains(parts, "reader") || len(left) != 2 {
				t.Errorf("seed %d: left %s", seed, parts)
			}
		case "EXPECT-v1":
			if parts != "picker" || len(got.Schedule) != 5 {
				t.Errorf("seed %d: left %s, schedule %s", seed, parts, keys)
			}
		default:
			t.Errorf("seed %d: law %s", seed, b.Law)
		}
	}
}

func TestShrinkIsDeterministicAndKeepsToItsBudget(t *testing.T) {
	toy := adders(3, 3)
	violation, from := failing(t, toy.run)
	first, err := Shrink(just(toy.run), violation, from, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := Shrink(just(toy.run), violation, from, 10_000)
	if first.String() != second.String() || !slices.Equal(first.Schedule.Keys(), second.Schedule.Keys()) {
		t.Errorf("%s, then %s", first, second)
	}
	runs := 0
	counted := func(c sim.Choices) *Outcome { runs++; return toy.run(c) }
	short, err := Shrink(just(counted), violation, from, 7)
	if err != nil || runs != 7 || short.Runs != 7 || short.Minimal {
		t.Errorf("%d runs, %v, %v", runs, short, err)
	}
	long, err := Shrink(just(func(c sim.Choices) *Outcome { // five such runs take all steps that are allowed
		out := toy.run(c)
		out.Steps = shrinkSteps / 5
		return out
	}), violation, from, 10_000)
	if err != nil || long.Runs != 5 || long.Minimal {
		t.Errorf("%v, %v", long, err)
	}
	want := "two runs of one schedule differ at step 3: first another at step 3 (as planted), then " + violation.text()
	_, err = Shrink(just(toy.run), Violation{Law: "another", Text: "as planted", Step: 3}, from, 100)
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Shrinking ends when Enough returns true. The failing run is executed even if Enough returns true at once.
func TestShrinkEndsWhenItsSubjectHasEnough(t *testing.T) {
	toy := adders(3, 3)
	violation, from := failing(t, toy.run)
	for _, most := range []int{0, 4} {
		runs, late := 0, 0
		subject := just(func(c sim.Choices) *Outcome { runs, late = runs+1, 0; return toy.run(c) })
		subject.Enough = func() bool { late++; return runs >= most }
		short, err := Shrink(subject, violation, from, 10_000)
		if err != nil || short.Runs != max(most, 1) || short.Minimal || late > 20 {
			t.Errorf("%d: %v, %v, asked %d times after the last run", most, short, err, late)
		}
	}
}

// A run that never ends by itself is ended when Enough returns true.
func TestShrinkEndsALongRun(t *testing.T) {
	toy := adders(2, 1)
	violation, from := failing(t, toy.run)
	runs, calls := 0, 0
	subject := just(func(c sim.Choices) *Outcome {
		if runs++; runs == 1 {
			return toy.run(c)
		}
		w := sim.New(sim.Zero{})
		for c.(*Recorder).Next(w, []sim.Action{{Actor: "a", Detail: "continues"}}) >= 0 {
		}
		return &Outcome{}
	})
	subject.Enough = func() bool { calls++; return calls > 100 }
	if got, err := Shrink(subject, violation, from, 10_000); err != nil || got.Runs != 2 || got.Minimal {
		t.Errorf("%+v, %v", got, err)
	}
}

// A smaller run that violates the law for another cause is rejected.
func TestShrinkKeepsTheCause(t *testing.T) {
	subject := Shrinkable{Parts: []string{"first", "second", "third"}, Without: func(removed []bool) Runner {
		return func(sim.Choices) *Outcome {
			var causes []string
			for i, cause := range []string{"one", "another", "another"} {
				if !removed[i] {
					causes = append(causes, cause)
				}
			}
			if removed[0] {
				causes = append(causes, "a third")
			}
			return &Outcome{Findings: []Violation{{Law: "L", Cause: causes}}}
		}
	}}
	got, err := Shrink(subject, Violation{Law: "L"}, nil, 100)
	if err != nil || !slices.Equal(got.Violation.Cause, []string{"one"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A fault that seems essential is removed in the end, if the smallest program fails without it.
func TestShrinkRemovesUnneededFaults(t *testing.T) {
	toy := &toyWorld{faults: 1, threads: [][]instr{{{"write", "v0", 1}}, {{"expect", "v0", 0}}}}
	fault := func(e *Entry) bool { return e.Fault() }
	for seed := range uint64(300) {
		r := Record(NewUniform(seed))
		out := toy.run(r)
		if len(out.Findings) == 0 || r.Schedule().Faults() == 0 {
			continue
		}
		subject := just(toy.run)
		subject.Keep = fault
		got, err := Shrink(subject, out.Findings[0], slices.Clone(r.Schedule()), 10_000)
		if err != nil || got.Schedule.Faults() > 0 {
			t.Fatalf("seed %d: %v, %v", seed, got, err)
		}
		return
	}
	t.Error("no seed fails after a fault")
}

// TestShrunkIsMinimal tries to remove every single decision, without the shrinker's passes.
func TestShrunkIsMinimal(t *testing.T) {
	toy := adders(3, 2)
	violation, from := failing(t, toy.run)
	got, err := Shrink(just(toy.run), violation, from, 10_000)
	if err != nil || !got.Minimal {
		t.Fatal(got, err)
	}
	for i := range got.Schedule {
		for _, to := range []Schedule{dropped(got.Schedule, []int{i}), defaulted(got.Schedule, []int{i})} {
			r := Record(Follow(to))
			out := toy.run(r)
			if len(out.Findings) > 0 && sizeOf(nil, r.Schedule()).less(sizeOf(nil, got.Schedule)) {
				t.Errorf("without decision %d the run is smaller: %q", i, r.Schedule().Keys())
			}
		}
	}
}
