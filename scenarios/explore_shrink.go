package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// shrinkBudget is the default of ExploreOptions.Budget.
const shrinkBudget = 2000

// shrinkAll minimizes the given failures, one after another. It does not minimize those that are accepted.
func (p *Script) shrinkAll(failures []explore.Failing, o ExploreOptions) ([]*Counterexample, error) {
	var all []*Counterexample
	for i := range failures {
		budget := o.Budget
		if budget == 0 {
			budget = shrinkBudget
		}
		var enough func() bool
		if o.Patience > 0 {
			until := time.Now().Add(o.Patience)
			enough = func() bool { return time.Now().After(until) }
		}
		if o.Raw != nil || o.Accept != nil {
			raw, err := p.shrink(&failures[i], 1, nil)
			if err != nil {
				return all, err
			}
			if o.accepts(raw) {
				all = append(all, raw)
				continue
			}
			if o.Raw != nil {
				o.Raw(raw)
			}
			if enough != nil && enough() { // two runs took this long, so minimizing would not end
				all = append(all, raw)
				continue
			}
		}
		f, err := p.shrink(&failures[i], budget, enough)
		if err != nil {
			return all, err
		}
		o.accepts(f)
		all = append(all, f)
	}
	return all, nil
}

// accepts calls Accept, if it is set, and stores the answer in f. It reports whether the failure is accepted.
func (o *ExploreOptions) accepts(f *Counterexample) bool {
	if o.Accept != nil {
		f.Accepted = o.Accept(f)
	}
	return f.Accepted != ""
}

// shrink minimizes a failure and makes its scenario file. enough ends minimizing early; it may be nil.
func (p *Script) shrink(f *explore.Failing, budget int, enough func() bool) (*Counterexample, error) {
	parts := p.parts(f.Violation)
	if p.needsAll(f.Violation) {
		parts = nil
	}
	subject := p.subject(parts, f)
	subject.Enough = enough
	small, err := explore.Shrink(subject, f.Violation, f.Schedule, budget)
	if d := (*explore.Disagreement)(nil); errors.As(err, &d) {
		d.Index, d.Seed = f.Index, f.Seed
	}
	if err != nil {
		return nil, err
	}
	q := *p
	q.File = p.File.without(parts, small.Removed)
	q.Until = p.Until - countSteps(parts, small.Removed)
	run, out := q.once(explore.Follow(small.Schedule))
	defer run.stop()
	failed := run.failed.last()
	if len(out.Findings) == 0 || failed == nil {
		return nil, errors.New("the minimized run does not violate " + f.Violation.Law + " again")
	}
	page := run.Page(failed)
	page.Small = smallness(small)
	schedule := f.Schedule
	failing := &Counterexample{Law: run.lawName(small.Violation.Law), Text: small.Violation.Text, Index: f.Index,
		Strategy: f.Strategy, Small: page.Small, Page: page, Found: func() *render.Page { return p.found(schedule) }}
	if failing.File, err = q.counterexampleFile(failing, small, failed.Step); err != nil || q.likely == 0 || budget < 2 {
		return failing, err
	}
	failing.Likely = q.likelihood(run, page, small)
	if text := decided(failing.Likely); text != "" {
		page.Small += "; " + text
	}
	return failing, nil
}

func (p *Script) found(schedule explore.Schedule) *render.Page {
	run, _ := p.once(explore.Follow(schedule))
	defer run.stop()
	return run.Page(run.failed.last())
}

// smallness describes a minimized failure: the decisions that are not the default, the faults, and whether minimizing
// was complete.
func smallness(s *explore.Shrunk) string {
	text := fmt.Sprintf("%d of %d choices differ from the default schedule", s.Schedule.Deviations(), len(s.Schedule))
	if n := s.Schedule.Faults(); n > 0 {
		text += "; " + plural(n, "fault")
	}
	if !s.Minimal {
		return text + "; not minimal"
	}
	return text + "; minimal"
}

// Shrink minimizes a failed run of the script and makes a scenario file. out must contain a violation. schedule must
// contain the run's decisions.
func (p *Script) Shrink(out *explore.Outcome, schedule explore.Schedule) (*Counterexample, error) {
	if err := p.warm(); err != nil {
		return nil, err
	}
	return p.shrink(&explore.Failing{Violation: out.Findings[0], Outcome: out, Schedule: schedule}, shrinkBudget, nil)
}

// subject returns the script in the form for package explore. In a small world, nearly every expectation fails, but for
// other reasons. Therefore, if an expectation fails, a smaller run must fail with the same text, and after the same
// last fault. If an expectation or a law about the end does not fail in the default schedule, it must not fail in that of
// the smaller script either. For example, the smaller script may lack an object that a right controller waits for.
func (p *Script) subject(parts []part, f *explore.Failing) explore.Shrinkable {
	b := f.Violation
	s := explore.Shrinkable{}
	byDefault := !judgesEnd(b.Law) || p.failsByDefault(b)
	for _, pt := range parts {
		s.Parts = append(s.Parts, pt.label)
	}
	if last := lastFault(f.Schedule); b.Law == expectation && last != nil {
		s.Keep = func(e *explore.Entry) bool { return e.Fault() && e.Action.Same(last.Action) }
	}
	s.Without = func(removed []bool) explore.Runner {
		q := *p
		if q.File = p.File.without(parts, removed); !q.definesAll(parts, removed) {
			return nil
		}
		q.Until = p.Until - countSteps(parts, removed)
		if !byDefault && q.failsByDefault(b) {
			return nil // without the removed parts, the end cannot be right
		}
		if b.Law != expectation {
			return q.Run
		}
		return func(c sim.Choices) *explore.Outcome {
			out := q.Run(c)
			if len(out.Findings) > 0 && out.Findings[0].Text != b.Text {
				out.Findings = nil
			}
			return out
		}
	}
	return s
}

// needsAll reports whether no part of the script may be removed, because a Go function of the verb ensure fails even in
// the default schedule. In a smaller script the function could fail because objects are missing.
func (p *Script) needsAll(b explore.Violation) bool {
	return b.Law == expectation && strings.HasPrefix(b.Text, verbEnsure.Name+" ") && p.failsByDefault(b)
}

// judgesEnd reports whether a law, or an expectation, is about the world at the end.
func judgesEnd(id string) bool {
	return slices.Contains([]string{expectation, law.AlwaysSettles, sameEnd, exactSum, "EXACT-6"}, id)
}

func (p *Script) failsByDefault(b explore.Violation) bool {
	out := p.Run(explore.Follow(nil))
	return len(out.Findings) > 0 && out.Findings[0].Law == b.Law && (b.Law != expectation || out.Findings[0].Text == b.Text)
}

// cause describes what must stay the same while a failure is minimized. For a fight, these are the kinds of writes in
// the cycle. For a world that does not settle, it is the limit that ended the run, with the last error without names
// and numbers. For other violations it is nil.
func (r *Run) cause(b *law.Violation) (causes []string) {
	if b.Law.ID == law.AlwaysSettles {
		limit, last, _ := strings.Cut(b.Text, trial.LastError)
		limit, _, _ = strings.Cut(limit, ": ")
		return []string{plain(limit + trial.LastError + last)}
	}
	for _, i := range b.Cycle {
		if rec := r.t.World.History.At(i); rec != nil {
			who := rec.Process
			if p := r.t.Cluster.Process(who); p != nil {
				who = p.Controller().Name
			}
			causes = append(causes, who+" "+rec.Verb+" "+rec.Object.Kind+"/"+rec.Subresource)
		}
	}
	return causes
}

// plain returns the words of a text that consist of letters, so without most names and numbers.
func plain(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return !letters.MatchString(word)
	}), " ")
}

var letters = regexp.MustCompile(`^[A-Za-z]+[:;,.]?$`)

func lastFault(s explore.Schedule) *explore.Entry {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].Fault() {
			return &s[i]
		}
	}
	return nil
}
