package simtest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
)

// drawn is the result of a run under a stream of choices.
type drawn struct {
	File     *scenarios.File
	Outcome  *explore.Outcome
	Schedule explore.Schedule // the schedule that minimizing starts with

	program *scenarios.Script
}

func run(p *scenarios.Script, c sim.Choices) *drawn {
	rec := explore.Record(c)
	out := p.Run(rec)
	return &drawn{File: p.File, Outcome: out, Schedule: rec.Schedule(), program: p}
}

// runs returns a function that runs the case once under a stream of choices. If the case has a mistake, the function
// returns the mistake as an error.
func (c *Case) runs(name string) func(sim.Choices) (*drawn, error) {
	p, err := c.plain().Script(name)
	if err != nil {
		return func(sim.Choices) (*drawn, error) { return nil, err }
	}
	return func(ch sim.Choices) (v *drawn, err error) {
		err = c.plain().Catch(func() { v = run(p, ch) })
		return v, err
	}
}

// Failed describes why a run failed, or returns "". A run fails at a violation or a fight, or if the world does not
// settle.
func (v *drawn) Failed() string {
	switch o := v.Outcome; {
	case len(o.Findings) > 0:
		return o.Findings[0].Law + " is violated: " + o.Findings[0].Text
	case o.Fight:
		return "the controllers fight"
	case !o.Settled:
		return "the world does not settle"
	}
	return ""
}

// draws is a stream of choices that rapid makes and can shrink.
type draws struct{ t *rapid.T }

func (d draws) Pick(n int, label string) int {
	if n <= 1 {
		return 0
	}
	return rapid.IntRange(0, n-1).Draw(d.t, label)
}

// Property returns a property for rapid, which chooses schedules of the case and shrinks failures:
//
//	rapid.Check(t, c.Property())
func (c *Case) Property() func(t *rapid.T) { return property(c.runs("rapid")) }

func property(run func(sim.Choices) (*drawn, error)) func(t *rapid.T) {
	return func(t *rapid.T) {
		v, err := run(draws{t})
		if err != nil {
			t.Fatal(err)
		}
		if why := v.Failed(); why != "" {
			t.Fatalf("%s\n%s", why, v.File.Format())
		}
	}
}

// Fuzz returns a fuzz target. The bytes of its input decide the schedule of the case:
//
//	f.Fuzz(c.Fuzz())
//
// A failure is minimized and written to the directory that [Check] uses.
func (c *Case) Fuzz() func(t *testing.T, data []byte) {
	return fuzz(c.runs("fuzz"), failures)
}

func fuzz(run func(sim.Choices) (*drawn, error), dir func(*testing.T) string) func(t *testing.T, data []byte) {
	return func(t *testing.T, data []byte) {
		v, err := run(&explore.Bytes{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		why := v.Failed()
		if why == "" {
			return
		}
		t.Errorf("%s\n%s", why, v.File.Format())
		t.Log(v.write(dir(t)))
	}
}

// write minimizes a failure and writes its file. It returns a text for the test's log.
func (v *drawn) write(dir string) string {
	if len(v.Outcome.Findings) == 0 {
		return "no law was violated: nothing to minimize"
	}
	small, err := v.program.Shrink(v.Outcome, v.Schedule)
	if err != nil {
		return err.Error()
	}
	path, err := kept.Keep(dir, small)
	if err != nil {
		return err.Error()
	}
	left := ""
	if err := kept.Leave(path, small.Page, small.Found); err != nil {
		left = "no page was written: " + err.Error() + "\n"
	}
	return small.Page.Text() + left + "written to " + path
}
