package audit

import (
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// How much of a log is kept for who is to see it: so many records, and where there are
// more, so many of those around each thing that was found, and the last.
const (
	mostKept           = 10_000
	keptBefore         = 200
	keptAfter          = 50
	mostMarksOfFinding = 20
)

// kept are the records of a log that somebody is to see.
type kept struct {
	records []sim.Record
	found   []int // indexes of records with which something was found first
	most    int
}

// add keeps a record, and drops others where there are too many.
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

// Shown is what somebody sees of a log: the records that were kept of so many, what was found in
// them, and when it began.
type Shown struct {
	History sim.History
	Marks   []render.Mark
	Of      int
	Began   time.Time
}

// Shown is what was kept for a page, with what the report tells. The report comes first.
func (a *Auditor) Shown(r *Report) *Shown {
	s := &Shown{Of: a.index, Began: a.first}
	at := map[int]int{}
	for _, rec := range a.kept.records {
		at[rec.Index] = len(s.History.Records)
		rec.Index = len(s.History.Records)
		s.History.Records = append(s.History.Records, rec)
	}
	mark := func(m render.Mark) {
		i, there := at[m.Record]
		if !there {
			i = -1
		}
		m.Record = i
		s.Marks = append(s.Marks, m)
	}
	finding := func(marks []render.Mark, race bool) {
		for _, m := range marks {
			m.Race = race // where it was judged strictly, what an actor may not have known is none
			mark(m)
		}
	}
	for _, f := range r.Breaches { // what comes first is told first: each thing once
		finding(f.marks[:1], false)
	}
	for _, f := range r.Fights {
		m := render.Mark{Record: f.record, Law: "never-fight", Text: f.Sentence()}
		for _, l := range a.Laws {
			if l.ID == fightLaw {
				m.Sentence, m.Source = l.Sentence, l.Source
			}
		}
		for i := range s.History.Records {
			rec := &s.History.Records[i]
			if slices.ContainsFunc(f.Cycle, func(l line) bool { return l.At.Equal(a.first.Add(rec.At)) }) {
				m.Cycle = append(m.Cycle, i)
			}
		}
		mark(m)
	}
	for _, f := range r.Breaches {
		finding(f.marks[1:], false)
	}
	for _, f := range r.Doubtful {
		finding(f.marks, true)
	}
	return s
}
