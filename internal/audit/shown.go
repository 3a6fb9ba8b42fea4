package audit

import (
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

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
		alike(&rec)
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

// alike leaves the bodies out of a record in which one of them is not known, so that nothing
// seems to have come or gone with it.
func alike(r *sim.Record) {
	before, _ := r.Before.(*Object)
	after, _ := r.After.(*Object)
	if before == nil || after == nil || (before.spec == nil) == (after.spec == nil) {
		return
	}
	b, n := *before, *after
	b.spec, b.status, n.spec, n.status = nil, nil, nil, nil
	r.Before, r.After = &b, &n
}
