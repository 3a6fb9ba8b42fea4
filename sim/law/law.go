package law

import "github.com/threelaws/threelaws/sim"

// Law is a clause that can be checked on a run.
type Law struct {
	ID       string // of the clause: "LAW-2"
	Name     string // "dont-interfere"
	Sentence string // what must hold: one sentence, or a list (a), (b)
	Source   string // the document and section it comes from
	Category Category
	Profile  Profile  // the law applies to controllers of this profile and larger ones
	Needs    Evidence // the evidence that its check needs
	Unasked  string   // the part of the sentence that is not checked; "" for none
	Races    bool     // programs are judged although Needs has [Syncs]; their violations are Committed

	// Rested: programs are judged although Needs has [Syncs], by what the settled world had shown them.
	Rested bool
	Ends   bool // programs are judged although Needs has [Syncs], by how they end

	Outside bool // programs in other processes are judged, by what they wrote

	New   func(j *Judge) Check // returns a new check for one run, see [On]; nil for a law that is checked elsewhere
	Where string               // the test that checks a law with a nil New

	byInvariant bool       // it applies to controllers that have an [Invariant] of its ID
	invariant   *Invariant // the invariant that this law stands for; nil for the laws of this package
}

// asks reports whether a law applies to actors of this opaqueness: 0, 1 (Opaque) or 2 (Outside).
func (l *Law) asks(opaque int) bool {
	switch opaque {
	case 0:
		return true
	case 1:
		return l.ofPrograms()
	}
	return l.Outside
}

// IsInvariant reports whether the law was made from an [Invariant].
func (l *Law) IsInvariant() bool { return l.invariant != nil }

// ofPrograms reports whether a law applies to whole programs. It is not known when their syncs begin.
func (l *Law) ofPrograms() bool { return l.Races || l.Rested || l.Ends || l.Needs&^ofPrograms == 0 }

// Category of a clause, as in the clause list.
type Category byte

// The categories.
const (
	Safety     Category = 'S'
	Liveness   Category = 'L'
	Routing    Category = 'R'
	Validation Category = 'V'
	Data       Category = 'D'
)

// Check is a law's state for one run. It sees each record, in order, before the judge's State is updated with it.
//
// A Check with a method Wants(sim.Op) bool sees only the records that it wants. A Check with a method Reset is
// reused for the next run; others are created again ([Judge.Reset]). An exhaustive search needs a [sim.Digester] if
// the check remembers anything that matters later.
type Check interface {
	Record(r *sim.Record)
}

type selective interface {
	Wants(op sim.Op) bool
}

type resetter interface {
	Reset()
}

// opSet is a set of record operations.
type opSet uint16

func ops(list ...sim.Op) opSet {
	var s opSet
	for _, o := range list {
		s |= 1 << o
	}
	return s
}

func (s opSet) Wants(op sim.Op) bool { return s&(1<<op) != 0 }

// pure is a check that remembers nothing.
type pure struct {
	opSet
	j *Judge
	f func(j *Judge, r *sim.Record)
}

func (p *pure) Record(r *sim.Record) { p.f(p.j, r) }

func (p *pure) Reset() {}

// On returns the New of a law with a check function that remembers nothing. f sees the records of these operations.
func On(f func(j *Judge, r *sim.Record), list ...sim.Op) func(*Judge) Check {
	set := ops(list...)
	return func(j *Judge) Check { return &pure{set, j, f} }
}
