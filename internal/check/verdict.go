package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Verdict is the result of one law in all cases.
type Verdict struct {
	*law.Law
	State     string
	Why       string
	Exercised int      // how often the law was exercised
	Cases     []string // the cases in which the law was violated
	Worlds    int      // the number of worlds in which the law was evaluated

	known []string // cases with accepted violations, and the reasons
}

// The states of a law, as in docs/evidence/clauses.md.
const (
	Held         = "held"
	Violated     = "violated"
	Accepted     = "accepted"       // violated, but each violation is accepted (see [Accept])
	Skipped      = "skipped"        // listed in Operator.Skip, with a reason
	NotExercised = "not exercised"  // no case evaluated the law
	NotJudged    = "not judged"     // the check cannot see enough to judge the law
	NotIts       = "does not apply" // the law does not concern this controller
)

// elsewhere contains the actors of clauses that do not concern ordinary controllers.
var elsewhere = []clause.About{clause.Collector, clause.Drainer, clause.Named, clause.Server, clause.Tool,
	clause.Eras}

// Verdicts returns a result for each law of the controller's profile, except laws for other actors, such as tools.
func (p *Plan) Verdicts(cases []Tried) (all []Verdict) {
	f, s, c := p.found, p.subject, p.Controller
	for _, l := range s.laws(&c) {
		about := clause.Anybody
		if of := clause.ByID(l.ID); of != nil {
			about = of.About
		}
		if l.New == nil && l.ID != law.SameEnd || l.Profile > law.Profile(c.Contract.Profile) || slices.Contains(elsewhere, about) {
			continue
		}
		v := Verdict{Law: l}
		who := c.Name
		if s.ofWorld(l) {
			who = ""
		}
		v.add(who, cases)
		if l.ID == law.SameEnd {
			p.compared(&v, cases)
		}
		missing := f.missing(s, &c, l.ID, about)
		if c.Hosted() && !l.OfProgram(c.Announces) {
			missing = NotJudged + ": a whole program does not show what a reconcile is for, and what events enqueue"
		}
		switch {
		case s.Skip[l.Name] != "":
			v.State, v.Why = Skipped, s.Skip[l.Name]
		case len(v.Cases) > 0:
			v.State, v.Why = Violated, "in "+strings.Join(v.Cases, ", ")
		case len(v.known) > 0:
			v.State, v.Why = Accepted, strings.Join(v.known, "; ")
		case missing != "" && !(v.Exercised > 0 && strings.HasPrefix(missing, NotIts)):
			v.State, v.Why, _ = strings.Cut(missing, ": ")
		case v.Exercised == 0:
			v.State, v.Why = NotExercised, "no case could have violated it"
		default:
			v.State = Held
			switch {
			case c.Hosted() && l.FromSettled:
				v.Why = ", for its writes after the world had settled: a whole program shows no more"
			case c.Hosted() && l.Ends:
				v.Why = ", for panics that end the program: a panic that it recovers silently is not seen"
			}
		}
		all = append(all, v)
	}
	return all
}

// laws returns all laws that judge the controller, including its invariants.
func (s *operator) laws(c *host.Controller) []*law.Law {
	all := slices.Concat(law.All(), c.Contract.Laws())
	for _, v := range s.Invariants {
		all = append(all, v.Law())
	}
	return all
}

// ofWorld reports whether a law is one of Operator.Invariants.
func (s *operator) ofWorld(l *law.Law) bool {
	return slices.ContainsFunc(s.Invariants, func(v *law.Invariant) bool { return v.ID == l.ID })
}

// told lists the names of laws and invariants that are skipped, or that these cases have violated.
func (s *operator) told(cases []Tried) (told []string) {
	for name := range s.Skip {
		told = append(told, name)
	}
	for _, t := range cases {
		if t.X != nil {
			for _, f := range t.X.Failures {
				told = append(told, f.Law)
			}
		}
	}
	return told
}

// asks returns the laws for a case that runs after the given cases; nil means all laws. It leaves out laws that those
// cases violated, so that the case can show other violations. Laws that end a run are never left out.
func (s *operator) asks(cases []Tried, c *law.Contract) []*law.Law {
	told, all := s.told(cases), slices.Concat(law.All(), c.Laws())
	left := slices.DeleteFunc(slices.Clone(all), func(l *law.Law) bool {
		return slices.Contains(told, l.Name) && !slices.Contains(ending, l.ID)
	})
	if len(left) == len(all) {
		return nil
	}
	return left
}

// add adds the results of all cases to the verdict.
func (v *Verdict) add(controller string, cases []Tried) {
	for _, t := range cases {
		if t.X == nil {
			continue
		}
		for _, k := range t.Known {
			if k.Law == v.Name {
				v.known = append(v.known, fmt.Sprintf("in %s: %s", t.Name, k.Reason))
			}
		}
		for _, f := range t.X.Failures {
			if f.Law == v.Name {
				v.Cases = append(v.Cases, t.Name)
			}
		}
		exercised := 0
		for _, s := range t.X.Said {
			if s.Law == v.ID && (controller == "" || s.Controller == controller) {
				exercised = max(exercised, s.Exercised) // an invariant of the world is counted for each controller
			}
		}
		if exercised > 0 {
			v.Exercised += exercised
			v.Worlds++
		}
	}
}

// compared counts in v the schedules of cases with SameEnd. They compare their settled world with that of a quiet run.
func (p *Plan) compared(v *Verdict, cases []Tried) {
	for i, t := range cases {
		k := slices.IndexFunc(p.Cases, func(c DerivedCase) bool { return c.Name == t.Name })
		if k >= 0 && t.X != nil && t.X.Schedules > 0 && p.Cases[k].World(cases[:i]).SameEnd {
			v.Exercised += t.X.Schedules
			v.Worlds++
		}
	}
}

// missing returns "state: reason" for a law that cannot be judged or does not apply. For any other law it returns "".
func (f *found) missing(s *operator, c *host.Controller, id string, about clause.About) string {
	declare := "declare "
	if c.Hosted() { // only a Go test can set the Contract of a program
		declare = "a Go test (conformance.Test with Run) can declare "
	}
	switch {
	case (id == "EXACT-1" || id == "EXACT-2" && (f.wants == nil || !f.neverSurges(s))) && s.Controller.Contract.Replicas == nil && s.Controller.Contract.MaxActive == nil:
		return NotJudged + ": how many dependents it may briefly have too many, or lack, is not visible from " +
			"outside: " +
			declare + "Replicas, with MaxSurge and MaxUnavailable"
	case id == "EXACT-8" || about == clause.Counting:
		return unless(len(c.Contract.Counts) > 0, NotJudged+": which numbers of its status count dependents: "+declare+"Counts")
	case about == clause.Identified:
		return unless(c.Contract.Identity != nil, NotJudged+": which values its dependents must not share: "+
			""+declare+"Identity")
	case about == clause.Claimers && f.adopts:
		return unless(c.Contract.Selector != nil, NotJudged+": how it selects what it adopts: "+declare+"Selector")
	case about == clause.Claimers && c.Contract.Selector == nil && f.known("", adopting, naming) != "":
		return NotJudged + ": " + f.known("", adopting, naming)
	case about == clause.Claimers && f.byName:
		return unless(c.Contract.Selector != nil, NotIts+": it adopts objects by their names, not by labels")
	case about == clause.Claimers:
		return unless(c.Contract.Selector != nil, NotIts+": it adopts nothing")
	case about == clause.Wanting:
		return unless(c.Contract.Replicas != nil || c.Contract.MaxActive != nil,
			NotJudged+": how many dependents an owner wants: "+declare+"Replicas")
	case about == clause.Finalizing && f.unsettled != "", about == clause.Owners && f.unsettled != "":
		return NotJudged + ": " + f.known("")
	case about == clause.Finalizing && f.stuck != "":
		return NotJudged + ": in a quiet run, its deleted sample stays terminating after the error " + f.stuck
	case about == clause.Finalizing:
		return unless(len(c.Contract.Finalizers) > 0, NotIts+": it puts no finalizers on objects")
	case about == clause.Owners:
		return unless(len(c.Owns) > 0, NotIts+": it has no dependents")
	}
	return ""
}

func unless(known bool, why string) string {
	if known {
		return ""
	}
	return why
}

// fits reports whether a case can be run, as far as there was time to find out.
func (p *Plan) fits(name string) bool {
	return slices.ContainsFunc(p.Cases, func(c DerivedCase) bool { return c.Name == name && (c.Skip == "" || c.Late) })
}

// Summary formats the verdicts and the numbers of cases and schedules.
func (p *Plan) Summary(cases []Tried, verdicts []Verdict) string {
	explored, left, schedules, failed, kept := 0, 0, 0, 0, ""
	var failing []string // cases with failures; if no law is violated, these are failed expectations
	for _, t := range cases {
		if t.X == nil || t.X.Schedules == 0 && len(t.X.Failures) == 0 { // the check was interrupted before this case
			if p.fits(t.Name) {
				left++
			}
			continue
		}
		explored++
		schedules += t.X.Schedules
		if len(t.X.Failures) > 0 || t.X.Unsettled > 0 {
			failed++
		}
		if len(t.X.Failures) > 0 {
			failing = append(failing, t.Name)
		}
		if t.X.Schedules == 0 {
			kept = "; cases with a kept failure that still happens were not explored"
		}
	}
	n, violated := map[string]int{}, []string(nil)
	for _, v := range verdicts {
		n[v.State]++
		if v.State == Violated {
			violated = append(violated, v.Name)
		}
	}
	known := ""
	if n[Accepted] > 0 {
		known = fmt.Sprintf("%d accepted, ", n[Accepted])
	}
	if n[Skipped] > 0 {
		known += fmt.Sprintf("%d skipped, ", n[Skipped])
	}
	kind := p.Controller.For.Kind
	verdict := kind + ": no law is violated in what was tried"
	var buts []string
	if left > explored {
		verdict = kind + ": no law is violated"
		buts = append(buts, fmt.Sprintf("there was no time for %d cases", left))
	}
	if n[Accepted] > 0 {
		verdict += ", except for what is accepted"
	}
	if !p.HasDependents() {
		but := "the sample got no dependents"
		if slices.ContainsFunc(p.found.creates, func(c creation) bool { return c.how == controls }) {
			but = "the sample has no dependents at the end"
		}
		if len(p.found.unowned()) > 0 {
			but += " with an owner reference"
		}
		buts = append(buts, but)
	}
	if len(buts) > 0 {
		verdict += ", but " + strings.Join(buts, ", and ")
	}
	switch {
	case len(violated) > 0:
		verdict = kind + ": VIOLATES " + strings.Join(violated, ", ")
	case explored == 0:
		verdict = kind + ": no verdict, since no case was explored"
	case p.Unsettled != "":
		verdict = kind + ": no verdict, since " + p.Unsettled
		if p.Unsettled == restless {
			verdict += ": limit each world with --for"
		}
	case len(failing) > 0:
		verdict = kind + ": VIOLATES expectations, in " + strings.Join(failing, ", ")
	case failed > 0:
		verdict = kind + ": DOES NOT SETTLE in some schedules"
	}
	return fmt.Sprintf("%s. Laws of %s: %d held, %d violated, %s%d not exercised, %d not judged, %d do not apply. "+
		"%d of %d cases were explored, %d failed; schedules: %d%s", verdict, p.Profile, n[Held], n[Violated], known, n[NotExercised],
		n[NotJudged], n[NotIts], explored, len(cases), failed, schedules, kept)
}
