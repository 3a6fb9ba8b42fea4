package explore

import (
	"slices"
	"time"
)

// Drawn is the result of an exploration. It is a function of the program and the plan, and does not depend on the
// number of workers or their speed. An interrupted report covers the runs before the first missing one.
type Drawn struct {
	From      int // index of the first run
	Runs      int
	Steps     int64
	Distinct  int // distinct runs, by hash
	Finals    int // distinct final states, by hash, if the program sets [Outcome.State]
	Unsettled int // runs that did not settle, without a fight or a violation
	Fights    int
	Failed    int // runs that violated a law
	Doubled   int // runs that were done twice

	Failures    []Failing // the first of each law, or of each law in each block; in order of index
	Laws        Table     // number of runs that violated each law, by its ID
	Outcomes    Table
	Bounds      []Bound // PCT's guarantees, by depth
	Length      int     // the k of PCT: the length of the first run, in decisions
	Interrupted bool
}

// Progress is the state of a running exploration.
type Progress struct {
	Runs, Total int
	Distinct    int
	Failed      int
	Elapsed     time.Duration
	PerSecond   float64       // runs per second
	Left        time.Duration // estimated time left at this speed
}

// result holds the facts about one run.
type result struct {
	index     int
	hash      uint64
	state     uint64
	steps     int
	label     string
	settled   bool
	fight     bool
	doubled   bool
	depth     int
	bound     float64
	violation *Violation
	failure   *Failing // set for the first violation of each law that the worker met
	disagree  *Disagreement
	unfit     error
}

// failed returns the error that ends the exploration, or nil.
func (r *result) failed() error {
	if r.disagree != nil {
		return r.disagree
	}
	return r.unfit
}

// tally adds results to a report in order of index.
type tally struct {
	report *Drawn
	hashes map[uint64]struct{}
	finals map[uint64]struct{}
}

func newTally(k, from int) *tally {
	return &tally{&Drawn{Length: k, From: from}, map[uint64]struct{}{}, map[uint64]struct{}{}}
}

// next returns the index of the next run to be added.
func (t *tally) next() int { return t.report.From + t.report.Runs }

func (t *tally) add(r *result) {
	rep := t.report
	rep.Runs++
	rep.Steps += int64(r.steps)
	rep.Outcomes.Add(r.label)
	t.hashes[r.hash] = struct{}{}
	rep.Distinct = len(t.hashes)
	if r.state != 0 {
		t.finals[r.state] = struct{}{}
		rep.Finals = len(t.finals)
	}
	if r.fight {
		rep.Fights++
	}
	if r.doubled {
		rep.Doubled++
	}
	if r.depth > 0 {
		t.bound(r.depth).add(r.bound)
	}
	switch {
	case r.violation != nil:
		rep.Failed++
		rep.Laws.Add(r.violation.Law)
		t.failure(r)
	case !r.settled && !r.fight:
		rep.Unsettled++
	}
}

func (t *tally) bound(depth int) *Bound {
	for len(t.report.Bounds) < depth {
		t.report.Bounds = append(t.report.Bounds, Bound{Depth: len(t.report.Bounds) + 1})
	}
	return &t.report.Bounds[depth-1]
}

func (t *tally) failure(r *result) {
	if r.failure == nil {
		return
	}
	if !slices.ContainsFunc(t.report.Failures, func(f Failing) bool {
		return f.Violation.Same(*r.violation) && f.block == r.failure.block
	}) {
		t.report.Failures = append(t.report.Failures, *r.failure)
	}
}
