package explore

import (
	"slices"
	"time"
)

// Drawn is the result of an exploration. It depends only on the program and the plan, not on the number or speed of the
// workers. If Enough or ctx ended the exploration, Drawn contains the runs before the first run that is missing.
type Drawn struct {
	From      int // index of the first run
	Runs      int
	Steps     int64
	Distinct  int // number of different values of [Outcome.Hash]
	Finals    int // number of different values of [Outcome.State], without 0
	Unsettled int // runs that did not settle and had no fight or violation
	Fights    int
	Failed    int // runs that violated a law
	Doubled   int // runs that were repeated and compared

	Failures    []Failing // the first failure of each law and value of Informed in each block; sorted by index
	Laws        Table     // number of failed runs, by the ID of the law that was violated first
	Outcomes    Table
	Bounds      []Bound // PCT's lower bounds, by depth
	Length      int     // k in PCT: the number of decisions about actions in run 0; 0 without PCT
	Interrupted bool
}

// Progress is the state of a running exploration.
type Progress struct {
	Runs, Total int
	Distinct    int
	Failed      int
	Elapsed     time.Duration
	PerSecond   float64       // runs per second
	Left        time.Duration // estimated remaining time
}

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
	failure   *Failing // the failure to report; nil if the worker has already reported the same violation
	disagree  *Disagreement
	unfit     error
}

func (r *result) failed() error {
	if r.disagree != nil {
		return r.disagree
	}
	return r.unfit
}

// tally adds results to a report in the order of their indexes.
type tally struct {
	report *Drawn
	hashes map[uint64]struct{}
	finals map[uint64]struct{}
}

func newTally(k, from int) *tally {
	return &tally{&Drawn{Length: k, From: from}, map[uint64]struct{}{}, map[uint64]struct{}{}}
}

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
