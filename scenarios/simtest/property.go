package simtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/explore"
)

// Verdict is what one generated world came to.
type Verdict struct {
	File     *scenarios.File
	Outcome  *explore.Outcome
	Schedule explore.Schedule // the schedule, to shrink it by
}

// Run generates a world and runs it once, all from one stream of choices. The
// error is the generator's own.
func (w World) Run(g *scenarios.Registry, c sim.Choices) (*Verdict, error) {
	f, err := w.File(c)
	if err != nil {
		return nil, err
	}
	if err := f.Check(g); err != nil {
		return nil, fmt.Errorf("a generated file is wrong: %w\n%s", err, f.Format())
	}
	rec := explore.Record(c)
	p := &scenarios.Program{File: f, Registry: g, Until: len(f.Steps), Faults: w.Faults}
	out := p.Run(rec)
	return &Verdict{File: f, Outcome: out, Schedule: rec.Schedule()}, nil
}

// Failed says what is wrong with a run of conforming controllers, "" for
// nothing: a broken law, a fight, a world that does not settle.
func (v *Verdict) Failed() string {
	switch o := v.Outcome; {
	case len(o.Breaches) > 0:
		return o.Breaches[0].Law + " is broken: " + o.Breaches[0].Text
	case o.Fight:
		return "the controllers fight"
	case !o.Settled:
		return "the world does not settle"
	}
	return ""
}

// draws is a stream of choices drawn by rapid, which shrinks them.
type draws struct{ t *rapid.T }

// Pick draws a number in [0, n).
func (d draws) Pick(n int, label string) int {
	if n <= 1 {
		return 0
	}
	return rapid.IntRange(0, n-1).Draw(d.t, label)
}

// Property holds generated worlds to every law, under schedules drawn by rapid.
func (w World) Property(g *scenarios.Registry) func(t *rapid.T) {
	return func(t *rapid.T) {
		v, err := w.Run(g, draws{t})
		if err != nil {
			t.Fatal(err)
		}
		if why := v.Failed(); why != "" {
			t.Fatalf("%s\n%s", why, v.File.Format())
		}
	}
}

// Fuzz holds the world that a fuzzer's bytes mean to every law. A failure is
// made small and written to dir as a scenario file, which people can read.
func (w World) Fuzz(g *scenarios.Registry, dir string) func(t *testing.T, data []byte) {
	return func(t *testing.T, data []byte) {
		v, err := w.Run(g, &sim.Bytes{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		why := v.Failed()
		if why == "" {
			return
		}
		t.Errorf("%s\n%s", why, v.File.Format())
		t.Log(v.write(g, w.Faults, dir))
	}
}

// write makes a failure small and writes it down; it returns what to tell.
func (v *Verdict) write(g *scenarios.Registry, faults map[string]int, dir string) string {
	if len(v.Outcome.Breaches) == 0 {
		return "no law was broken: nothing to make small"
	}
	p := &scenarios.Program{File: v.File, Registry: g, Until: len(v.File.Steps), Faults: faults}
	small, err := p.Shrink(v.Outcome, v.Schedule)
	if err != nil {
		return err.Error()
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%016x.txtar", small.Law, v.Outcome.Hash))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err.Error()
	}
	if err := scenarios.WriteFile(path, small.File); err != nil {
		return err.Error()
	}
	return "replay: threelaws replay " + path
}
