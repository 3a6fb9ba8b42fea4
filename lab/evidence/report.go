package evidence

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// State is the result for a controller and a clause.
type State string

// The results. A clause that was never evaluated does not count as held.
const (
	Held        State = "held"           // evaluated, and held in every schedule
	Broken      State = "violated"       // violated in some schedule, which is allowed for this era
	Breaking    State = "violated!"      // violated in some schedule, without an excuse
	Unexercised State = "not exercised"  // never evaluated
	NotIts      State = "does not apply" // does not concern the controller, for the reason in Why
)

type Examination struct {
	Sheets    []*Sheet
	Worlds    int // explored worlds; the same world with and without faults counts twice
	Schedules int

	said     map[[2]string]*tally // by the controller, such as "replicaset@gated", and the ID of the clause or law
	registry *scenarios.Registry
}

// Sheet lists the results for one controller in one era.
type Sheet struct {
	ControllerEra

	Rows []*Row
}

type Row struct {
	*clause.Clause

	Law       string // the name of the clause's law; "" for none
	State     State
	Why       string // why the clause does not apply, is not exercised, or may be violated
	Exercised int    // how often the clause was evaluated
	Worlds    int    // worlds in which the clause was evaluated
	Schedules int    // schedules of those worlds
	Broken    int    // schedules that violate the clause
	Violation *Violation
}

// Violation is a violation of a clause in the smallest world that has one.
type Violation struct {
	World string // the name of the scenario file
	Text  string // what happened, in one line
	Steps int    // the number of the violating line in the timeline
}

// Wrong reports whether a row is wrong: violated without an excuse, or not exercised without a reason.
func (row *Row) Wrong() bool {
	return row.State == Breaking || row.State == Unexercised && row.Why == ""
}

// Wrong lists the wrong rows, one line each.
func (r *Examination) Wrong() (lines []string) {
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if row.Wrong() {
				lines = append(lines, s.String()+": "+row.ID+": "+row.Note())
			}
		}
	}
	return lines
}

// tally sums the results of all worlds for one clause and one controller in one era.
type tally struct {
	asked, worlds, schedules, broken int

	where     *world     // the smallest world with a violation
	violation *Violation // the violation in the world where, if no law checks the clause; otherwise nil
}

func newReport(g *scenarios.Registry, all []ControllerEra, o Options) *Examination {
	r := &Examination{said: map[[2]string]*tally{}, registry: g}
	for _, s := range all {
		if o.wants(&s) {
			r.Sheets = append(r.Sheets, &Sheet{ControllerEra: s})
		}
	}
	return r
}

// of returns the tally of a controller for an ID: the ID of a clause, or of the law or invariant that checks the
// clause.
func (r *Examination) of(s *ControllerEra, id string) *tally {
	if c := clause.ByID(id); c != nil {
		id = c.ID
	}
	key := [2]string{s.String(), id}
	if r.said[key] == nil {
		r.said[key] = &tally{}
	}
	return r.said[key]
}

func (r *Examination) add(e *examined) {
	r.Worlds++
	r.Schedules += e.x.Schedules
	for _, id := range e.pins {
		c := clause.ByID(id)
		for i := range e.w.cast {
			s := &e.w.cast[i]
			ages := agesIn(e.w.file, s.Name, r.registry)
			if c.About == clause.Eras && len(ages) < 2 || c.About == clause.Named &&
				(!slices.Contains(c.Only, s.Name) || !slices.Contains(ages, s.Era)) {
				continue // the clause does not apply to the controller, or the file runs it in another era
			}
			h := r.of(s, id)
			if e.x.Ended+e.x.Failed > 0 {
				h.asked, h.worlds, h.schedules = h.asked+e.x.Schedules, h.worlds+1, h.schedules+e.x.Schedules
			}
			h.broken += e.x.Failed + e.x.Unsettled
			if len(e.x.Failures) > 0 && (h.violation == nil || e.w.simpler(h.where)) {
				f := e.x.Failures[0]
				h.where, h.violation = e.w, &Violation{e.w.file.Name, f.Text, f.Page.Step()}
			}
		}
	}
	for _, s := range e.x.Said {
		for _, i := range e.w.judged(s.Controller) {
			h := r.of(&e.w.cast[i], s.Law)
			if s.Exercised > 0 {
				h.asked, h.worlds, h.schedules = h.asked+s.Exercised, h.worlds+1, h.schedules+e.x.Schedules
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

// judged returns the indexes in cast of the controllers whose results count. If any controller of the world runs in an
// older era, only results of older eras count. The others prove little.
func (w *world) judged(controller string) (who []int) {
	old := w.old()
	for i := range w.cast {
		if s := &w.cast[i]; s.Newest != old && (s.Name == controller || controller == "") {
			who = append(who, i)
		}
	}
	return who
}

func (w *world) old() bool {
	return slices.ContainsFunc(w.cast, func(s ControllerEra) bool { return !s.Newest })
}

func (w *world) simpler(than *world) bool {
	if (w.faults == nil) != (than.faults == nil) {
		return w.faults == nil
	}
	return len(w.text) < len(than.text)
}

func (r *Examination) finish(cover []*Cover) {
	for _, s := range r.Sheets {
		for _, c := range cover {
			if row := r.row(s, c); row != nil {
				s.Rows = append(s.Rows, row)
			}
		}
	}
}

// row returns the result of a controller for a clause, nil for a clause that no controller can violate.
func (r *Examination) row(s *Sheet, c *Cover) *Row {
	if c.About == clause.Server || c.About == clause.Tool {
		return nil
	}
	row := &Row{Clause: c.Clause}
	if c.Law != nil {
		row.Law = c.Law.Name
	}
	h := r.of(&s.ControllerEra, c.ID)
	row.Exercised, row.Worlds, row.Schedules, row.Broken = h.asked, h.worlds, h.schedules, h.broken
	row.Violation = h.violation
	excuse := excused(c.Clause, s, r.registry)
	if excuse == "" && c.Law != nil && c.Law.Profile > law.Profile(s.Contract.Profile) {
		excuse = "it is judged by the profile " + law.Profile(s.Contract.Profile).String()
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
		row.State, row.Why = Unexercised, reason(s, c.ID)
	}
	return row
}

// shorten finds a short run for each violation of a law that no excuse allows.
func (r *Examination) shorten(ctx context.Context, g *scenarios.Registry, o Options) error {
	type job struct {
		row *Row
		w   *world
	}
	var jobs []job
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if h := r.of(&s.ControllerEra, row.ID); row.State == Breaking && h.where != nil && row.Law != "" {
				jobs = append(jobs, job{row, h.where})
			}
		}
	}
	errs := make([]error, len(jobs))
	each(ctx, len(jobs), func(i int) {
		row, w := jobs[i].row, jobs[i].w
		x, err := scenarios.Explore(ctx, w.file, -1, g, scenarios.ExploreOptions{Schedules: o.Schedules, Seed: 1,
			Faults: w.faults, LawsOnly: true, Laws: []string{row.Law}, First: true, Budget: shortenBudget,
			Workers: 1, Steps: mostSteps})
		if errs[i] = err; err != nil || len(x.Failures) == 0 {
			return
		}
		f := x.Failures[0]
		row.Violation = &Violation{World: w.file.Name, Text: f.Text, Steps: f.Page.Step()}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// shortenBudget is the maximal number of runs for minimizing a violation.
const shortenBudget = 60

func (s *Sheet) count(states ...State) int {
	n := 0
	for _, row := range s.Rows {
		for _, state := range states {
			if row.State == state {
				n++
			}
		}
	}
	return n
}

var mark = map[State]string{Held: "[x]", Broken: "[-]", Breaking: "[!]", Unexercised: "[ ]", NotIts: " - "}

// Note explains the state of a row.
func (row *Row) Note() string {
	switch row.State {
	case Held:
		return fmt.Sprintf("evaluated %s in %s of %s", times(row.Exercised), plural(row.Schedules, "schedule"),
			plural(row.Worlds, "world"))
	case Broken, Breaking:
		text := fmt.Sprintf("violated in %s", plural(row.Broken, "schedule"))
		if row.Why != "" {
			text += ": " + row.Why
		}
		if b := row.Violation; b != nil {
			text += fmt.Sprintf("; in %s of %s: %s", plural(b.Steps, "step"),
				strings.TrimSuffix(path.Base(b.World), ".txtar"), b.Text)
		}
		return text
	case Unexercised:
		if row.Why == "" {
			return "not exercised"
		}
		return "not exercised: " + row.Why
	}
	return "does not apply: " + row.Why
}

// Text formats a report for a terminal. With rows it lists every clause of each controller. Otherwise it counts the
// clauses of each controller by state, and lists only the wrong rows.
func Text(r *Examination, width int, rows bool) string {
	var b strings.Builder
	if rows {
		for _, s := range r.Sheets {
			t := render.Table{Indent: "  ", Width: width}
			for _, row := range s.Rows {
				t.Add(mark[row.State], row.ID, row.Law, row.Note())
			}
			b.WriteString(s.String() + "\n" + t.String() + "\n")
		}
		return b.String() + r.summary()
	}
	t := render.Table{Width: width}
	t.Add("controller", "held", "violated", "not exercised", "does not apply")
	for _, s := range r.Sheets {
		t.Add(s.String(), strconv.Itoa(s.count(Held)), strconv.Itoa(s.count(Broken, Breaking)),
			strconv.Itoa(s.count(Unexercised)), strconv.Itoa(s.count(NotIts)))
	}
	b.WriteString(t.String() + "\n")
	for _, line := range r.Wrong() {
		b.WriteString(line + "\n")
	}
	return b.String() + r.summary()
}

func (r *Examination) summary() string {
	held, broken, breaking, unexercised := 0, 0, 0, 0
	for _, s := range r.Sheets {
		held, broken = held+s.count(Held), broken+s.count(Broken)
		breaking, unexercised = breaking+s.count(Breaking), unexercised+s.count(Unexercised)
	}
	text := fmt.Sprintf("%s, %d violated as older eras may", plural(held, "clause")+" held", broken)
	if breaking > 0 {
		text += fmt.Sprintf(", %d violated", breaking)
	}
	if unexercised > 0 {
		text += fmt.Sprintf(", %d not exercised", unexercised)
	}
	return text + fmt.Sprintf(" (%s of %s)\n", plural(r.Schedules, "schedule"), plural(r.Worlds, "world"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
