package law

import (
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// Law is a clause that a program can check on a run.
type Law struct {
	ID        string   // the ID of the clause, such as "LAW-2"
	Name      string   // the name in reports and files, such as "dont-interfere"
	Sentence  string   // what must hold: one sentence, or a list (a), (b)
	Source    string   // document and section that state the law
	Profile   Profile  // the law applies to controllers of this profile or a larger one
	Needs     Evidence // the evidence that the check needs
	Unchecked string   // the part of the sentence that is not checked; "" for none
	Races     bool     // even if Needs has [Syncs], whole programs are judged; their violations by writes are Committed

	// FromSettled: even if Needs has [Syncs], whole programs are judged, but only after the world has settled, because
	// it is then known what they have seen.
	FromSettled bool
	Ends        bool // even if Needs has [Syncs], whole programs are judged, but only when they end

	Outside bool // programs in other processes are judged too, but only by their writes

	New   func(j *Judge) Check // returns a new check for one run, see [On]; nil if a test checks the law
	Where string               // the test that checks the law if New is nil

	invariant *Invariant // the invariant that the law checks; nil for the laws of this package
}

// asks reports whether a law applies to an actor. opaque is 0, 1 (Opaque), 2 (Outside) or 3 (Announces).
func (l *Law) asks(opaque int) bool {
	switch opaque {
	case 0:
		return true
	case 1:
		return l.OfProgram(false)
	case 3:
		return l.OfProgram(true)
	}
	return l.Outside
}

// IsInvariant reports whether the law belongs to an [Invariant] of a user. Such a law may concern any field of an
// object.
func (l *Law) IsInvariant() bool { return l.invariant != nil && !l.invariant.builtin() }

// OfProgram reports whether a law applies to a whole program, which may announce its reconciles ([Actor].Announces).
func (l *Law) OfProgram(announces bool) bool {
	has := ofPrograms
	if announces {
		has = ofAnnounced
	}
	return l.Races || l.FromSettled || l.Ends || l.Needs&^has == 0
}

// Check is the state of a law's check for one run. It receives each record, in order, before the record changes the
// judge's State.
//
// If a Check has a method Wants(sim.Op) bool, it receives only the records for which Wants is true. If it has a
// method Reset, it is reused for the next run; otherwise a new check is created ([Judge.Reset]). A check with a
// memory must be a [sim.Digester] for exhaustive search.
type Check interface {
	Record(r *sim.Record)
}

type selective interface {
	Wants(op sim.Op) bool
}

type resetter interface {
	Reset()
}

type opSet uint16

func ops(list ...sim.Op) opSet {
	var s opSet
	for _, o := range list {
		s |= 1 << o
	}
	return s
}

func (s opSet) Wants(op sim.Op) bool { return s&(1<<op) != 0 }

type pure struct {
	opSet
	j *Judge
	f func(j *Judge, r *sim.Record)
}

func (p *pure) Record(r *sim.Record) { p.f(p.j, r) }

func (p *pure) Reset() {}

// On returns a function for [Law].New, for a check without memory. f receives the records of the operations in list.
func On(f func(j *Judge, r *sim.Record), list ...sim.Op) func(*Judge) Check {
	set := ops(list...)
	return func(j *Judge) Check { return &pure{set, j, f} }
}

// Verdict is the result for one law.
type Verdict struct {
	Law       *Law
	Why       string     // why the law was not judged, such as "needs deliveries"; "" if it was judged
	Count     int        // number of violations of any strength
	First     *Violation // the first violation that fails the run, otherwise the first of any strength; nil for none
	Exercised int        // how often the run exercised the law; if 0, a verdict without a violation proves nothing
	By        []Share    // the share of each controller that exercised the law, in the order of actors
}

// shares returns the shares of a check, added up for each controller.
func (s *State) shares(check int) []Share {
	var all []Share
	for _, p := range s.processes {
		if check >= len(p.shares) || p.shares[check].Exercised == 0 {
			continue
		}
		own := p.shares[check]
		i := slices.IndexFunc(all, func(o Share) bool { return o.Controller == own.Controller })
		if i < 0 {
			all = append(all, own)
			continue
		}
		all[i].Exercised, all[i].Broken = all[i].Exercised+own.Exercised, all[i].Broken+own.Broken
	}
	return all
}

// Verdicts returns the verdict on each law of the judge, in order.
func (j *Judge) Verdicts() []Verdict {
	out := make([]Verdict, 0, len(j.laws))
	for _, l := range j.laws {
		v := Verdict{Law: l}
		for i := range j.checks {
			if j.checks[i].law == l {
				v.Count, v.Exercised, v.By = j.checks[i].count, j.checks[i].asked, j.state.shares(i)
			}
		}
		for i := range j.violations {
			b := &j.violations[i]
			if b.Law == l && (v.First == nil || !j.Fails(v.First) && j.Fails(b)) {
				v.First = b
			}
		}
		switch missing := l.Needs &^ j.given(); {
		case l.New == nil:
			v.Why = "checked by " + l.Where
		case missing != 0:
			v.Why = "needs " + missing.String()
		}
		out = append(out, v)
	}
	return out
}
