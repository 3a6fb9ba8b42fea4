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

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/threelaws/threelaws/sim"
)

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

// Strength of a breach of a safety law.
type Strength uint8

const (
	// Informed: the actor broke the law against what it had itself been shown.
	Informed Strength = iota
	// Committed: the write was lawful for what the actor knew, but not for the
	// state it landed on.
	Committed
)

// Breach is one breaking of one law.
type Breach struct {
	Law      *Law
	Strength Strength
	Record   int    // index of the record that broke it
	Text     string // what happened, in one line: "owned by rs/web-b"
	Cycle    []int  // NOFIGHT-1: the records of the cycle
}

// Subject tells the laws what they must know of one process's controller. The
// functions are given the objects of the records and must not change them.
type Subject struct {
	Process    string
	Controller string   // "replicaset"
	Kind       string   // the kind it syncs; "" for none: the laws on collections don't concern it
	APIVersion string   // of Kind; "" where the source of records does not say
	Dependents []string // the kinds it creates, claims and deletes
	Tends      []string // kinds it writes by its office, whoever owns them: an autoscaler's targets
	Finalizers []string // those it puts on objects and takes off again
	Profile    Profile  // which laws it is held to

	Selector func(owner any) labels.Selector // what an owner selects; nil or a nil result: nothing
	Replicas func(owner any) int             // how many active dependents an owner wants; nil: not judged
	Active   func(object any) bool           // whether a dependent counts; nil: whether it is not being deleted
	Counted  func(owner any) int             // how many dependents an owner's status claims; nil: not judged
	Willing  func(owner, object any) bool    // whether it would adopt this matching orphan; nil: always
	Polls    bool                            // works by polling: the WATCH laws don't concern it

	Surge       func(owner any) int        // how many active dependents it may have above what it wants (EXACT-2); nil: none
	Unavailable func(owner any) int        // how many it may lack by deletes of its own (EXACT-1); nil: none
	Identity    func(dependent any) string // what only one active dependent of an owner may be (EXACT-3); "" for nothing, nil: not judged
	Counts      []Count                    // the numbers of an owner's status that count dependents (EXACT-8)
}

// Collector is the name of the garbage collector's controller: the GC laws
// judge processes whose Subject has it.
const Collector = "garbagecollector"
