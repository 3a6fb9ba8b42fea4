package audit

import (
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Shown is a log for display: the kept records, the total, the findings, and the start time.
type Shown struct {
	History sim.History
	Marks   []render.Mark
	Of      int
	Began   time.Time
}

// Shown returns what was kept for a page, with the findings of the report. Call Report first.
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
			m.Race = race // under strict judging, ignorance is no excuse
			mark(m)
		}
	}
	for _, f := range r.Breaches { // findings in order of time, without duplicates
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

// alike removes the bodies of a record if one is unknown, so that nothing seems to have been added or removed.
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
