package explore

import (
	"slices"
	"time"
)

// Report is what an exploration came to. But for the time it took, it is a
// function of the program and the plan: neither the number of workers nor their
// speed shows in it. After an interruption it covers the runs before the first
// one that is missing.
type Report struct {
	From      int // the index of the first run
	Runs      int
	Steps     int64
	Distinct  int // distinct runs, by hash
	Finals    int // distinct final states, by hash, where the program tells [Outcome.State]
	Unsettled int // runs that neither settled nor fought nor violated a law
	Fights    int
	Failed    int // runs that violated a law
	Doubled   int // runs that were done twice

	Failures    []Failing // the first of each law, or of each law in each block, in order of index
	Laws        Table     // runs that violated a law, by its ID
	Outcomes    Table
	Bounds      []Bound // what PCT promises, by depth
	Length      int     // the k of PCT: the length of the first run, in decisions
	Interrupted bool
}

// Progress is how far an exploration has come.
type Progress struct {
	Runs, Total int
	Distinct    int
	Failed      int
	Elapsed     time.Duration
	PerSecond   float64       // runs
	Left        time.Duration // at this speed
}

// result is what a worker found out about one run.
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
	violation *Finding
	failure   *Failing // for the first of each law that the worker met
	disagree  *Disagreement
	unfit     error
}

// failed is why nothing more is explored, nil where nothing speaks against it.
func (r *result) failed() error {
	if r.disagree != nil {
		return r.disagree
	}
	return r.unfit
}

// tally folds results, in order of index, into a report.
type tally struct {
	report *Report
	hashes map[uint64]struct{}
	finals map[uint64]struct{}
}

func newTally(k, from int) *tally {
	return &tally{&Report{Length: k, From: from}, map[uint64]struct{}{}, map[uint64]struct{}{}}
}

// next returns the index of the run that is added next.
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
