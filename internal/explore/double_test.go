package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// note is the content of a toy thread's request.
type note struct{ name, text string }

func (n note) String() string { return "put " + n.name }

func (n note) Differences(other sim.Content) []string {
	return []string{fmt.Sprintf("text: %s then %s", n.text, other.(note).text)}
}

// writer is a toy thread that sends requests. The function returns the requests of a step, and may differ between runs.
type writer struct {
	toyThread
	requests func(step int) []note
}

func (w *writer) Take(sim.Action) {
	w.pc++
	for _, n := range w.requests(w.pc) {
		w.w.Request(sim.Request{Process: w.name, Digest: sim.HashString(n.name + "=" + n.text), Content: n})
	}
}

func TestDisagreementNamesTheRequest(t *testing.T) {
	for _, test := range []struct {
		name, want string
		requests   func(run, step int) []note
	}{
		{"equal", "", func(_, step int) []note { return []note{{"a", fmt.Sprint(step)}} }},
		{"a field", "at step 3: keeper: put b: text: 1 then 2\nusual causes: ", func(run, step int) []note {
			if step < 3 {
				return nil
			}
			return []note{{"a", "same"}, {"b", fmt.Sprint(run)}, {"c", "same"}}
		}},
		{"the last step", "at step 5: keeper: put a: text: 1 then 2\n", func(run, step int) []note {
			return []note{{"a", fmt.Sprint(step / 5 * run)}}
		}},
		{"first only", "at step 2: keeper: put b: only in the first run\n", func(run, step int) []note {
			if step == 2 && run == 1 {
				return []note{{"a", ""}, {"b", ""}}
			}
			return []note{{"a", ""}}
		}},
		{"second only", "at step 4: keeper: put a: only in the second run\n", func(run, step int) []note {
			if step == 5-run/2 {
				return []note{{"a", ""}}
			}
			return nil
		}},
		{"names", "at step 1: keeper: put n1, then keeper: put n2\n", func(run, step int) []note {
			return []note{{fmt.Sprint("n", run), ""}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			runs := 0
			program := func(c sim.Choices) *Outcome {
				runs++
				run := runs
				w := sim.New(c)
				w.Add(&writer{toyThread{w: w, toy: &toyWorld{}, name: "keeper", code: make([]instr, 5)},
					func(step int) []note { return test.requests(run, step) }})
				for w.Step() {
				}
				return &Outcome{Steps: w.Steps(), Hash: w.Hash(), Settled: true}
			}
			_, _, err := Twice(program, func() *Recorder { return Record(NewUniform(1)) })
			d := (*Disagreement)(nil)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("the runs differ: %v", err)
			case test.want != "" && (!errors.As(err, &d) || !strings.Contains(err.Error(), " differ "+test.want)):
				t.Errorf("%v\ndoes not contain %s", err, test.want)
			}
		})
	}
}

// Two runs with equal histories but different violations differ.
func TestDisagreementNamesTheViolation(t *testing.T) {
	runs := 0
	program := func(c sim.Choices) *Outcome {
		runs++
		out := adders(2, 0).run(c)
		out.Findings = []Violation{{Law: fmt.Sprint("LAW-", runs), Text: "why", Step: 2}}
		return out
	}
	_, _, err := Twice(program, func() *Recorder { return Record(NewUniform(1)) })
	want := ": first LAW-1 at step 2 (why), then LAW-2 at step 2 (why)"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Two runs are equal if only the texts of their violations differ.
func TestTextsOfViolationsMayDiffer(t *testing.T) {
	runs := 0
	program := func(c sim.Choices) *Outcome {
		runs++
		out := adders(2, 0).run(c)
		out.Findings = []Violation{{Law: "LAW-1", Text: fmt.Sprint("endless loop, at main.go:", runs), Step: 2}}
		return out
	}
	if _, _, err := Twice(program, func() *Recorder { return Record(NewUniform(1)) }); err != nil {
		t.Error(err)
	}
}

// A program that cannot be run ends the exploration with its error. The error may occur in run 0, which measures the
// length for PCT, in another run, or in a repeated run.
func TestUnfit(t *testing.T) {
	why := errors.New("it never waits")
	for _, double := range []int{-1, 1} {
		for _, good := range []int{0, 1, 2, 9} {
			runs := 0
			program := func(c sim.Choices) *Outcome {
				if runs++; runs > good {
					return &Outcome{Unfit: why}
				}
				return adders(2, 0).run(c)
			}
			r, err := Config{New: func() Runner { return program }, Runs: 50, Workers: 1, Double: double,
				All: true}.Run(t.Context())
			if !errors.Is(err, why) || runs != good+1 || r.Runs > good {
				t.Errorf("after %d good runs, the report has %d of %d runs; error %v", good, r.Runs, runs, err)
			}
		}
	}
}
