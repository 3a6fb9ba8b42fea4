package law

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Invariant is what must hold of one kind of controller, or in one world, beyond the laws. One in a [Contract] is asked
// of that controller; one of a case or a conformance Subject is asked of the whole world. It is explored, minimized and
// printed like a law.
type Invariant struct {
	ID       string // "one-bucket-per-claim"; with the ID of a law ("EXACT-11") it is that law for its controller
	Sentence string // what must hold, in one sentence; may be empty where ID is a law's
	When     When   // at which moments Check is asked
	// Check says what is wrong, "" for nothing. It depends on the facts alone and must not change the objects.
	Check func(f *Facts) string
	// Recent is for how long Facts.Get still returns a cluster-scoped object that was deleted.
	Recent time.Duration

	ofWorld, ofContract memo
}

// memo keeps a *Law that is made once. The type is left open: what an invariant is does not depend on what a law is.
type memo struct {
	once sync.Once
	law  any
}

// When is a set of moments.
type When uint8

// The moments at which an [Invariant] is asked.
const (
	WhenSettled  When = 1 << iota // nothing more happens: once for each object the controller syncs, or for the world
	BeforeCreate                  // of a dependent; and at the delete of another, of each active dependent as of a new one
	AtWrite                       // at each create, update and delete
	AtDelete                      // when a deletion is requested or done
)

// Facts are what an [Invariant] looks at. A write that breaks it is judged twice: by what is stored, and by what its
// controller had been shown ([Informed]).
type Facts struct {
	Now        time.Time
	Owner      runtime.Object   // the object that the controller syncs; nil in an invariant of a world
	Dependents []runtime.Object // what Owner controls, without the object that is written
	// The object that is written. Before is nil for a create, After for a delete, and both once all has settled.
	Before, After runtime.Object

	Reconciled bool // settled: Owner was synced, without error, since its controller was shown everything
	Forever    bool // settled: for good, and not because the time of the world is over

	All func(kind string) []runtime.Object // what there is of a kind; for an invariant of a world with the write
	Get func(kind, namespace, name string) runtime.Object
}

// Misuse is what the judge panics with where an [Invariant] or a [Contract] is wrong itself, in one line.
type Misuse string

// Error is the mistake.
func (m Misuse) Error() string { return string(m) }

// invariant returns the one of a contract with that ID; nil for none.
func (c *Contract) invariant(id string) *Invariant {
	for _, v := range c.Invariants {
		if v.ID == id {
			return v
		}
	}
	return nil
}

// when are the moments at which invariants of the contract are asked.
func (c *Contract) when() (all When) {
	for _, v := range c.Invariants {
		all |= v.When
	}
	return all
}
