package audit

import (
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// Limits of the records kept for display: the total, and those around each finding.
const (
	mostKept           = 10_000
	keptBefore         = 200
	keptAfter          = 50
	mostMarksOfFinding = 20
)

// kept holds the records of a log for display.
type kept struct {
	records []sim.Record
	found   []int // indexes of the first records of findings
	most    int
}

// add keeps a record, and drops others if there are too many.
func (k *kept) add(r sim.Record) {
	if k.records = append(k.records, r); len(k.records) < 2*k.most {
		return
	}
	last := k.records[len(k.records)-k.most/4].Index
	near := func(r sim.Record) bool {
		i, _ := slices.BinarySearch(k.found, r.Index-keptAfter)
		return i < len(k.found) && k.found[i] <= r.Index+keptBefore
	}
	k.records = slices.DeleteFunc(k.records, func(r sim.Record) bool { return r.Index < last && !near(r) })
	if n := len(k.records); n > k.most {
		k.records = slices.Clone(k.records[n-k.most:])
	}
}
