// Package law holds the laws: values that judge a history. A law is a name, the
// sentence it enforces, where that sentence comes from, and a check that folds
// over records; it does not know how the history was made.
//
// A [Judge] holds a run against laws. It is a [sim.Observer] and keeps a
// [State] that is folded from records alone, so any other source of the same
// records can be judged too. For that the records must say:
//
//   - Commit: who (Process, Incarnation, Worker, For, SawFor), how (Verb,
//     Subresource, Guards), to what (Object, Before, After) and on what
//     knowledge (Saw; nil means that the object was never read in this sync).
//   - Refusal: the same without After; Code and Message as the server sent them.
//   - Read: Verb "get" or "list", Object, After; a get of nothing is a Refusal
//     with Code 404.
//   - Delivery: every informer event of a subject, Before and After as the
//     informer had and has them; Enqueued names every key that was asked for,
//     even one that was in the queue already, and not those asked for later
//     (AddAfter); Observed every key whose expectations were lowered.
//   - SyncStart, SyncEnd: For with the key's namespace and name, even where
//     there is no such object (UID ""); Message the error.
//   - FaultHit, with Process the process it hit: Verb "crash" and "restart"
//     (Incarnation: the one that ended, the one that began), "stop" (for good),
//     "hold" and "release" (Object.Kind: of which kind; "" for all), "relist",
//     "switch" (of generation), "synced" (every informer of this incarnation
//     has had its initial list); with Process "apiserver" "downgrade" and
//     "upgrade" (it drops the controller field in between). Others are ignored.
//   - Mutation, Stuck, Unsettled: Message. Fighting: Reason, see [CycleReason];
//     Message where it is no recurrence.
//   - Settled: everything delivered, nothing enabled. Laws of liveness are
//     judged here, of those whose own processes are neither down nor held.
//
// A source that has not all of this says so ([Judge.Evidence]); laws that need
// more are then not judged.
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

	New   func(j *Judge) Check // a fresh check for one run; nil for a law checked elsewhere (Where says so)
	Where string               // for a law without a check of histories: the test that pins it
}

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

// Check judges one run. Record is called for every record, in order, before
// the judge's State is brought up to date with it.
type Check interface {
	Record(r *sim.Record)
}

// Selective is a [Check] that needs only some records; the others are not
// shown to it.
type Selective interface {
	Wants(op sim.Op) bool
}

// Resetter is a [Check] that can forget its run. One that cannot is made anew
// by [Judge.Reset].
type Resetter interface {
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

// Wants implements [Selective].
func (s opSet) Wants(op sim.Op) bool { return s&(1<<op) != 0 }

// pure is a check without a memory of its own.
type pure struct {
	opSet
	j *Judge
	f func(j *Judge, r *sim.Record)
}

func (p *pure) Record(r *sim.Record) { p.f(p.j, r) }

func (p *pure) Reset() {}

// on makes the New of a law whose check is one function of the judge and the
// record.
func on(f func(j *Judge, r *sim.Record), list ...sim.Op) func(*Judge) Check {
	set := ops(list...)
	return func(j *Judge) Check { return &pure{set, j, f} }
}
