package explore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/threelaws/threelaws/sim"
)

// inside makes cmp compare the unexported fields of reports.
var inside = cmp.Exporter(func(reflect.Type) bool { return true })

func toys(toy *toyWorld) func() Runner { return func() Runner { return toy.run } }

func TestReportDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, all := range []bool{false, true} {
		for _, strategy := range []Strategy{Mixed, Random, Priorities} {
			var want *Drawn
			for _, workers := range []int{1, 2, 3, 8} {
				c := Config{New: toys(adders(3, 2)), Runs: 700, Seed: 5, Strategy: strategy, Workers: workers, All: all}
				got, err := c.Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if diff := cmp.Diff(want, got, inside); diff != "" {
					t.Errorf("%s, all=%v: %d workers (- one worker, + more)\n%s", strategy, all, workers, diff)
				}
			}
			if len(want.Failures) != 1 || all && want.Runs != 700 || !all && want.Runs != want.Failures[0].Index+1 {
				t.Errorf("%s, all=%v: %+v", strategy, all, want)
			}
		}
	}
}

func TestFailureIsTheFirstAndReplays(t *testing.T) {
	toy := adders(2, 6)
	rep, err := Config{New: toys(toy), Runs: 500, Seed: 77}.Run(context.Background())
	if err != nil || len(rep.Failures) != 1 {
		t.Fatal(rep, err)
	}
	f := rep.Failures[0]
	plan := Plan{Strategy: Mixed, Seed: 77, Steps: rep.Length}
	for i := range f.Index {
		c, _ := plan.At(i)
		if out := toy.run(c); len(out.Findings) > 0 {
			t.Errorf("run %d fails before run %d", i, f.Index)
		}
	}
	k := Replay(f.Schedule)
	if out := toy.run(k); k.Err() != nil || out.Hash != f.Outcome.Hash || f.Seed != SeedAt(77, f.Index) {
		t.Errorf("replay: %v", k.Err())
	}
}

// fickle returns a program with runs that differ from the third step on.
func fickle() func() Runner {
	return func() Runner {
		runs := 0
		return func(c sim.Choices) *Outcome {
			runs++
			toy := &toyWorld{
				threads: [][]instr{
					{{"send", "a", 0}, {"send", "b", 0}, {"send", fmt.Sprint("c", runs), 0}, {"send", "d", 0}}}}
			return toy.run(c)
		}
	}
}

func TestDoubleRunNamesTheFirstDifferingStep(t *testing.T) {
	_, err := Config{New: fickle(), Runs: 100, Seed: 3, Strategy: Random}.Run(context.Background())
	var d *Disagreement
	if !errors.As(err, &d) || d.Step != 3 || d.Index != 0 || d.Seed != 3 {
		t.Errorf("err = %v", err)
	}
	_, _, err = Twice(fickle()(), func() *Recorder { return Record(NewUniform(1)) })
	if !errors.As(err, &d) || d.Step != 3 {
		t.Errorf("err = %v", err)
	}
	out, s, err := Twice(adders(2, 0).run, func() *Recorder { return Record(NewUniform(1)) })
	if err != nil || len(s) != out.Steps {
		t.Errorf("%v, %d decisions in %d steps", err, len(s), out.Steps)
	}
}

func TestShareOfRunsIsDoneTwice(t *testing.T) {
	for double, want := range map[int]int{0: 4, 10: 20, -1: 0} {
		rep, err := Config{New: toys(&toyWorld{threads: adders(2, 0).threads}), Runs: 200,
			Double: double}.Run(context.Background())
		if err != nil || rep.Doubled != want {
			t.Errorf("Double %d: %d runs done twice, want %d; %v", double, rep.Doubled, want, err)
		}
	}
}

func TestInterruptedReportIsAPrefix(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	toy := &toyWorld{threads: adders(2, 2).threads}
	c := Config{
		New: toys(toy), Runs: 1 << 40, Every: 1, Workers: 2,
		Progress: func(p Progress) {
			if p.Runs > 100 {
				cancel()
			}
		},
	}
	rep, err := c.Run(ctx)
	if err != nil || !rep.Interrupted || rep.Runs <= 100 {
		t.Fatal(rep, err)
	}
	c = Config{New: toys(toy), Runs: rep.Runs, Workers: 1}
	whole, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	whole.Interrupted = true
	if diff := cmp.Diff(whole, rep, inside); diff != "" {
		t.Errorf("- whole, + interrupted\n%s", diff)
	}
}

func TestInterruptEndsALongRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	loop := &toyWorld{limit: 1 << 60, threads: [][]instr{{{"write", "v0", 1}, {"jump", "", 0}}}}
	time.AfterFunc(20*time.Millisecond, cancel)
	rep, err := Config{New: toys(loop), Runs: 3}.Run(ctx)
	if err != nil || !rep.Interrupted || rep.Runs != 0 {
		t.Error(rep, err)
	}
}

// If Enough returns true, the runs of the exploration are a prefix of all runs, and the report is not interrupted.
func TestEnoughIsAPrefix(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		c := Config{New: toys(adders(3, 2)), Runs: 700, Seed: 5, All: true, Workers: workers}
		c.Enough = func(begun int) bool { return begun >= 40 }
		got, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, _ := Config{New: c.New, Runs: 40, Seed: 5, All: true}.Run(t.Context())
		if diff := cmp.Diff(want, got, inside); diff != "" {
			t.Errorf("%d workers (- 40 runs, + enough after 40)\n%s", workers, diff)
		}
	}
}

func TestProgress(t *testing.T) {
	now := time.Unix(0, 0)
	var last Progress
	c := Config{
		New: toys(&toyWorld{threads: adders(2, 0).threads}), Runs: 50, Every: time.Second,
		Now:      func() time.Time { now = now.Add(time.Second); return now },
		Progress: func(p Progress) { last = p },
	}
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if last.Runs != 50 || last.Total != 50 || last.Left != 0 || last.PerSecond != 1 || last.Distinct == 0 {
		t.Errorf("last progress %+v", last)
	}
}

func TestTable(t *testing.T) {
	var table Table
	for _, l := range []string{"b", "a", "c", "c", "d", "d"} {
		table.Add(l)
	}
	if got, want := table.String(), "2  c\n2  d\n1  a\n1  b\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
