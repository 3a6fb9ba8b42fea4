package law

import "github.com/threelaws/threelaws/sim"

// Law is one clause that a run can break.
type Law struct {
	ID       string // of the clause: "LAW-2"
	Name     string // "dont-interfere"
	Sentence string // what must hold, in one sentence
	Source   string // the document and section it comes from
	Category Category
	Profile  Profile  // who owes it
	Needs    Evidence // what must be known of a run before the law can be asked
	Unasked  string   // the part of the sentence that no check asks about; "" where it is asked whole
	Races    bool     // programs are asked, too, though Needs has [Syncs]: what they write against it is a race lost

	// Rested says that programs are asked, too, though Needs has [Syncs]: of what they do against what a
	// world at rest had shown them.
	Rested bool
	Ends   bool // programs are asked, too, though Needs has [Syncs]: of how they end

	Outside bool // programs in other processes are asked, too, of which only what they wrote is known

	New   func(j *Judge) Check // a fresh check for one run, see [On]; nil for a law checked elsewhere (Where says so)
	Where string               // for a law without a check of histories: the test that pins it

	promised  bool       // it is asked of controllers that have an [Invariant] of its ID
	invariant *Invariant // it is no law of this package, but this
}

// asks reports whether a law is asked of a subject that has so little known of it: 0 for one of
// which all is, 1 for an Opaque one, 2 for one Outside.
func (l *Law) asks(opaque int) bool {
	switch opaque {
	case 0:
		return true
	case 1:
		return l.ofPrograms()
	}
	return l.Outside
}

// ofPrograms reports whether a law is asked of programs, of which nobody knows when a sync
// begins.
func (l *Law) ofPrograms() bool { return l.Races || l.Rested || l.Ends || l.Needs&^ofPrograms == 0 }

// Category of clause, as the clause list marks them.
type Category byte

// The kinds of clause.
const (
	Safety     Category = 'S'
	Liveness   Category = 'L'
	Routing    Category = 'R'
	Validation Category = 'V'
	Data       Category = 'D'
)

// Check is a law at work on one run. It is shown each record, in order, before the
// judge's State is brought up to date with it.
//
// One with a method Wants(sim.Op) bool is shown only the records it wants. One with a
// method Reset forgets its run by it; any other is made anew for the next ([Judge.Reset]).
// One that remembers what may break its law later, and is to be searched exhaustively,
// is a [sim.Digester].
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

// pure is a check without a memory of its own.
type pure struct {
	opSet
	j *Judge
	f func(j *Judge, r *sim.Record)
}

func (p *pure) Record(r *sim.Record) { p.f(p.j, r) }

func (p *pure) Reset() {}

// On makes the New of a law whose check is a function that remembers nothing, and is
// shown the records of these operations.
func On(f func(j *Judge, r *sim.Record), list ...sim.Op) func(*Judge) Check {
	set := ops(list...)
	return func(j *Judge) Check { return &pure{set, j, f} }
}
