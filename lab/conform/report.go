package conform

import (
	"context"
	"slices"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// State is what is known of a controller and a clause.
type State string

// What can be known. A clause that nothing asked is never said to be held.
const (
	Held     State = "held"           // asked, and held in every schedule
	Broken   State = "broken"         // broken in some schedule, as an era of its age may
	Breaking State = "broken!"        // broken in some schedule, which nothing excuses
	Unasked  State = "not asked"      // nothing that was explored came to it
	NotIts   State = "does not apply" // Why says why
)

// Report is what came of an examination.
type Report struct {
	Sheets    []*Sheet
	Worlds    int // explored, each with and without faults
	Schedules int

	said     map[[2]string]*heard // by subject and clause
	registry *scenarios.Registry
}

// Sheet is the list of clauses as one controller keeps them in one era.
type Sheet struct {
	Subject

	Rows []*Row
}

// Row is one clause.
type Row struct {
	*clause.Clause

	Law       string // the name of its law; "" for none
	State     State
	Why       string // why it does not apply, is not asked, or may be broken
	Asked     int    // how often what it is about came up
	Worlds    int    // in which it did
	Schedules int    // of those worlds
	Broken    int    // schedules that broke it
	Breach    *Breach
}

// Breach is the shortest way that was found to break a clause.
type Breach struct {
	World string // the scenario
	Text  string // what happened, in one line
	Steps int    // of its timeline
}

// Amiss reports whether a row is not as it should be: broken without an excuse, or not asked
// without a reason.
func (row *Row) Amiss() bool {
	return row.State == Breaking || row.State == Unasked && row.Why == ""
}

// Amiss lists the rows that are not as they should be, one line each.
func (r *Report) Amiss() (lines []string) {
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if row.Amiss() {
				lines = append(lines, s.String()+": "+row.ID+": "+row.Note())
			}
		}
	}
	return lines
}

// heard is what was said of one subject and one clause in all worlds.
type heard struct {
	asked, worlds, schedules, broken int

	where  *world  // the smallest world that breaks it
	breach *Breach // in it, of a clause without a law
}

func newReport(g *scenarios.Registry, all []Subject, o Options) *Report {
	r := &Report{said: map[[2]string]*heard{}, registry: g}
	for _, s := range all {
		if o.wants(&s) {
			r.Sheets = append(r.Sheets, &Sheet{Subject: s})
		}
	}
	return r
}

// of is what was said of a subject and a clause so far.
func (r *Report) of(s *Subject, id string) *heard {
	key := [2]string{s.String(), id}
	if r.said[key] == nil {
		r.said[key] = &heard{}
	}
	return r.said[key]
}

// add takes in what came of a world.
func (r *Report) add(e *examined) {
	r.Worlds++
	r.Schedules += e.x.Schedules
	for _, id := range e.pins {
		c := clause.ByID(id)
		for i := range e.w.cast {
			s := &e.w.cast[i]
			ages := agesIn(e.w.file, s.Name, r.registry)
			if c.About == clause.Eras && len(ages) < 2 || c.About == clause.Named &&
				(!slices.Contains(c.Only, s.Name) || !slices.Contains(ages, s.Era)) {
				continue // it only stands by, or another era of it runs
			}
			h := r.of(s, id)
			if e.x.Ended+e.x.Failed > 0 {
				h.asked, h.worlds, h.schedules = h.asked+e.x.Schedules, h.worlds+1, h.schedules+e.x.Schedules
			}
			h.broken += e.x.Failed + e.x.Unsettled
			if len(e.x.Failures) > 0 && (h.breach == nil || e.w.simpler(h.where)) {
				f := e.x.Failures[0]
				h.where, h.breach = e.w, &Breach{e.w.file.Name, f.Text, f.Page.Step()}
			}
		}
	}
	for _, s := range e.x.Said {
		for _, i := range e.w.accused(s.Controller) {
			h := r.of(&e.w.cast[i], s.Law)
			if s.Asked > 0 {
				h.asked, h.worlds, h.schedules = h.asked+s.Asked, h.worlds+1, h.schedules+e.x.Schedules
			}
			if s.Broken > 0 {
				h.broken += s.Broken
				if h.where == nil || e.w.simpler(h.where) {
					h.where = e.w
				}
			}
		}
	}
}

// accused are those of the cast whom a law speaks of; where there are older
// eras in it those of them: what becomes of others in such company says little.
func (w *world) accused(controller string) (who []int) {
	old := w.old()
	for i := range w.cast {
		if s := &w.cast[i]; s.Newest != old && (s.Name == controller || controller == "") {
			who = append(who, i)
		}
	}
	return who
}

// old reports whether somebody of the world runs in an older era.
func (w *world) old() bool {
	return slices.ContainsFunc(w.cast, func(s Subject) bool { return !s.Newest })
}

// simpler reports whether a world is simpler than another.
func (w *world) simpler(than *world) bool {
	if (w.faults == nil) != (than.faults == nil) {
		return w.faults == nil
	}
	return len(w.text) < len(than.text)
}

// finish says how each controller stands to each clause.
func (r *Report) finish(cover []*Cover) {
	for _, s := range r.Sheets {
		for _, c := range cover {
			if row := r.row(s, c); row != nil {
				s.Rows = append(s.Rows, row)
			}
		}
	}
}

// row is how a controller stands to a clause; nil for one that no controller can break.
func (r *Report) row(s *Sheet, c *Cover) *Row {
	if c.About == clause.Server || c.About == clause.Tool {
		return nil
	}
	row := &Row{Clause: c.Clause}
	if c.Law != nil {
		row.Law = c.Law.Name
	}
	h := r.of(&s.Subject, c.ID)
	row.Asked, row.Worlds, row.Schedules, row.Broken = h.asked, h.worlds, h.schedules, h.broken
	row.Breach = h.breach
	excuse := excused(c.Clause, s, r.registry)
	if excuse == "" && c.Law != nil && c.Law.Profile > law.Profile(s.Contract.Profile) {
		excuse = "it is held to the profile " + law.Profile(s.Contract.Profile).String()
	}
	switch {
	case h.broken > 0 && !s.Newest && c.Before != "":
		row.State, row.Why = Broken, c.Before
	case h.broken > 0:
		row.State = Breaking
	case excuse != "":
		row.State, row.Why = NotIts, excuse
	case h.asked > 0:
		row.State = Held
	default:
		row.State, row.Why = Unasked, reason(s, c.ID)
	}
	return row
}

// shorten finds a short run for each clause that is broken without an excuse.
func (r *Report) shorten(ctx context.Context, g *scenarios.Registry, o Options) error {
	type job struct {
		row *Row
		w   *world
	}
	var jobs []job
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if h := r.of(&s.Subject, row.ID); row.State == Breaking && h.where != nil && row.Law != "" {
				jobs = append(jobs, job{row, h.where})
			}
		}
	}
	errs := make([]error, len(jobs))
	each(ctx, len(jobs), func(i int) {
		row, w := jobs[i].row, jobs[i].w
		x, err := scenarios.Explore(ctx, w.file, -1, g, scenarios.ExploreOptions{Schedules: o.Schedules, Seed: 1,
			Faults: w.faults, LawsOnly: true, Laws: []string{row.ID}, First: true, Budget: shortenBudget,
			Workers: 1, Steps: mostSteps})
		if errs[i] = err; err != nil || len(x.Failures) == 0 {
			return
		}
		f := x.Failures[0]
		row.Breach = &Breach{World: w.file.Name, Text: f.Text, Steps: f.Page.Step()}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// shortenBudget is how many runs making a violation short may take.
const shortenBudget = 60
