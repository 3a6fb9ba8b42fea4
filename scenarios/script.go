package scenarios

import (
	"errors"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Script is the part of a script that can be run under any choices: its first
// steps, without those that only look.
type Script struct {
	File     *File
	Registry *Registry
	Until    int                        // the steps before this index
	Faults   map[string]int             // how many faults of each name a run may have
	Strict   bool                       // races lost are broken laws too
	LawsOnly bool                       // what the file itself expects is not asked
	Laws     []string                   // the laws that count; all when empty
	Replace  map[string]host.Controller // by controller name: what runs instead
	prefer   string                     // the law that is looked for, by its clause
	mutant   string                     // the one in Replace, for the file that a failure is written to

	// Default runs the user's actions at once, as the default run does, rather
	// than among the controllers' actions.
	Default bool

	bound  int  // steps a settle may take; 0 for no other than any has
	idle   int  // of them without a commit
	last   *Run // of the last execution, when keep is set
	keep   bool
	States bool   // outcomes tell the final state
	asked  *asked // what the runs asked of the controllers; nil where nobody wants to know
}

// mutate lets a mutant of the registry run instead of its controller. It returns
// what is wrong with the name, "" for nothing.
func (p *Script) mutate(name string) string {
	m, what := p.Registry.mutant(name)
	if what != "" {
		return what
	}
	p.mutant, p.prefer = name, m.Law
	p.Replace = inPlace(m)
	return ""
}

// Run executes the program once. It is an [explore.Program].
func (p *Script) Run(c sim.Choices) *explore.Outcome {
	r := p.begin(c)
	out := &explore.Outcome{Settled: true}
	var broken *explore.Finding
	for _, s := range p.File.Steps[:min(p.Until, len(p.File.Steps))] {
		if broken = p.replay(r, s, out); broken != nil || r.ended || !out.Settled {
			break // of a world that does not come to rest nothing more is asked
		}
	}
	if broken == nil && !r.ended && out.Settled && r.dirty {
		broken = r.finish(out)
	}
	if broken != nil {
		out.Findings = []explore.Finding{*broken}
	}
	w := r.t.World
	out.Steps, out.Hash = w.Steps(), w.Hash()
	if p.States {
		out.State = w.StateHash()
	}
	if !r.ended {
		out.Label = r.label(out)
	}
	if p.asked != nil {
		p.asked.note(r)
	}
	if p.keep {
		p.last = r
	} else {
		r.t.Recycle()
	}
	return out
}

// begin makes the run of one execution.
func (p *Script) begin(c sim.Choices) *Run {
	r := NewRun(p.Registry)
	r.file, r.choices, r.explored, r.bound = p.File, c, !p.Default, p.bound
	r.idle, r.unread, r.asked = p.idle, !p.keep, p.asked
	r.Strict, r.replace, r.faults, r.prefer = p.Strict, p.Replace, p.Faults, p.prefer
	r.stale = p.File.restartsStale()
	if len(p.Laws) > 0 {
		_ = r.JudgeBy(p.Laws...)
	}
	return r
}

// once executes the program and keeps the run, to be looked at and stopped by
// the caller.
func (p *Script) once(c sim.Choices) (*Run, *explore.Outcome) {
	q := *p
	q.keep = true
	out := q.Run(c)
	return q.last, out
}

// replay performs one step in an execution. It returns the breach that ends it.
func (p *Script) replay(r *Run, s *Step, out *explore.Outcome) *explore.Finding {
	v := FindVerb(s.Verb)
	// Single steps mean something in the default schedule only.
	if !v.replayed() && (v != verbStep || r.explored) {
		return nil
	}
	r.step = s
	r.quiet = true
	r.out.Reset()
	if v.expects != nil && p.LawsOnly {
		return nil
	}
	if v.expects != nil {
		what := v.expects(r, s)
		if (what != "") == s.Expect {
			return nil
		}
		if s.Expect {
			what = "it holds"
		}
		text := s.String() + ": " + what
		r.failExpect(text)
		return &explore.Finding{Law: verbExpect.Name, Text: text, Informed: true, Step: r.t.World.Steps()}
	}
	err := v.run(r, s)
	var no *refused
	var e *Error
	if errors.As(err, &e) && e.Code == ExitUsage && !errors.As(err, &no) {
		r.ended, r.senseless = true, e // so is what is left of the script
		return nil
	}
	if s.Verb == verbSettle.Name {
		how := r.settling
		out.Settled = out.Settled && (how.Settled || s.Expect)
		out.Fight = out.Fight || how.Fight && !s.Expect
		out.Cut = out.Cut || how.Fight
	}
	if s.Expect {
		r.accept()
		return nil
	}
	return r.breach()
}

// replayed reports whether a verb belongs to the program of a script: it acts,
// settles, or says what must hold.
func (v *Verb) replayed() bool {
	return v.acts || v.judges || v.paces || v == verbSettle || v.expects != nil
}

// finish lets what the user still does happen, and the world come to rest.
func (r *Run) finish(out *explore.Outcome) *explore.Finding {
	r.step = nil
	how := r.Settle(SettleOptions{})
	out.Settled, out.Fight = out.Settled && how.Settled, out.Fight || how.Fight
	out.Cut = out.Cut || how.Fight
	return r.breach()
}

// breach is the first breach not yet accounted for.
func (r *Run) breach() *explore.Finding {
	b := r.firstBreach(r.broken)
	r.accept()
	if b == nil {
		return nil
	}
	r.breaks(b)
	step := 0
	if rec := r.t.World.History.At(b.Record); rec != nil {
		step = rec.Step
	}
	return &explore.Finding{Law: b.Law.ID, Text: render.WithoutUIDs(b.Text), Informed: b.Strength == law.Informed, Step: step}
}

// label is what a run came to, in a few words: what each controller object did
// in the settles that were explored.
func (r *Run) label(out *explore.Outcome) string {
	switch {
	case len(out.Findings) > 0 && out.Findings[0].Law != law.ComeToRest:
		return "breaks " + r.lawName(out.Findings[0].Law)
	case out.Fight:
		return "fights"
	case !out.Settled:
		return doesNotSettle
	}
	done := map[string]map[string]int{}
	var who []string
	h := &r.t.World.History
	cast := render.CastOf(h)
	for i := r.exploredFrom; i < h.Len(); i++ {
		rec := h.At(i)
		if rec == nil || rec.Op != sim.Commit || rec.For.IsZero() || render.Replaced(h, rec) {
			continue
		}
		c := render.VerbOf(rec)
		if c.Noise {
			continue
		}
		name := cast.Who(rec)
		if done[name] == nil {
			done[name] = map[string]int{}
			who = append(who, name)
		}
		done[name][c.Verb]++
	}
	slices.Sort(who)
	var parts []string
	for _, name := range who {
		parts = append(parts, name+" "+deeds(done[name]))
	}
	if len(parts) == 0 {
		return "nothing is written"
	}
	return strings.Join(parts, "; ")
}

// doesNotSettle is the outcome of runs that break EXACT-7.
const doesNotSettle = "does not settle"

// deeds words counts by verb: "adopts 3, deletes 1".
func deeds(n map[string]int) string {
	var verbs []string
	for v := range n {
		verbs = append(verbs, v)
	}
	slices.Sort(verbs)
	var words []string
	for _, v := range verbs {
		words = append(words, third(v)+" "+itoa(n[v]))
	}
	return strings.Join(words, ", ")
}

// third is the third person of a verb.
func third(v string) string {
	if strings.HasSuffix(v, "ch") {
		return v + "es"
	}
	return v + "s"
}

func (r *Run) lawName(id string) string {
	if l, _ := r.Registry.law(id); l != nil {
		return l.Name
	}
	return id
}
