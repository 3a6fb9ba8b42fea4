package scenarios

import (
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// telling says what the timelines of a run show.
type telling struct {
	history *sim.History
	settles int          // barriers so far
	from    int          // record from which the next timeline starts
	done    map[int]bool // steps in which the script acted at once
	notes   []string     // to print beneath the next timeline
	verbose bool         // status writes too
}

// atOnce marks a step in which the script itself acted at once.
func (t *telling) atOnce(step int) {
	if t.done == nil {
		t.done = map[int]bool{}
	}
	t.done[step] = true
}

// lines returns the timeline from a record on, with the violations that count.
func (t *telling) lines(c *counting, from int, verbose bool) []render.Line {
	o := render.Options{From: from, Verbose: verbose}
	first := t.settles == 0
	o.Skip = func(rec *sim.Record) bool {
		return first && rec.Process == law.User && rec.Op == sim.Commit || rec.Op == sim.FaultHit && t.done[rec.Step]
	}
	for _, b := range c.judge.Breaches() {
		if !c.counts(&b) {
			continue
		}
		o.Breaches = append(o.Breaches, render.MarkOf(b))
	}
	return render.Timeline(t.history, o)
}

// initial returns the index of the first record after the initial world.
func (t *telling) initial() int {
	for i := range t.history.Len() {
		if rec := t.history.At(i); rec != nil && rec.Process != law.User {
			return i
		}
	}
	return 0
}

// cycle returns the repeating lines: those that the law found, or else the repetition in the lines.
func (c *counting) cycle(lines []render.Line) (first, last int, ok bool) {
	if first, last, ok = render.Cycle(lines); ok {
		return first, last, ok
	}
	bs := c.judge.Breaches()
	for i := len(bs) - 1; i >= 0; i-- {
		if len(bs[i].Cycle) > 0 {
			return render.Numbers(lines, bs[i].Cycle)
		}
	}
	return 0, 0, false
}
