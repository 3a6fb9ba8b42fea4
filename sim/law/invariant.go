package law

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Invariant is a rule for one kind of controller, or for one world, in addition to the laws. An Invariant in a
// [Contract] is checked for that controller. A write that violates it fails the run only if the controller had seen
// enough to know this: see [Informed]. An Invariant in a casefile.Case or a conformance.Subject is checked for the
// whole world, and each violation fails the run. With AtWrite, the user's writes are not checked. A violation by the
// user is reported at the next write of a controller. Exploration, minimization and reports treat an Invariant as a
// law.
type Invariant struct {
	ID       string // such as "one-bucket-per-claim"; controllers that share an invariant use one ID
	Sentence string // what must hold, in one sentence
	When     When   // when Check is called
	// Check returns what is wrong, or "". It must depend only on f, and must not change the objects.
	Check func(f *Facts) string
	// Recent is how long Facts.Get still returns a deleted cluster-scoped object, such as a Node. It applies only at
	// writes to objects that are no dependents.
	Recent time.Duration

	ofWorld, ofContract memo
	origin              sync.Once
	isBuiltin           bool         // the result of the method builtin, once origin is done
	evaluated           atomic.Int64 // number of calls of Check, if isBuiltin is set
}

// memo holds a *Law that is created once. It is typed as any so that Invariant does not depend on Law.
type memo struct {
	once sync.Once
	law  any
}

// When is a set of moments at which an [Invariant] is checked.
type When uint8

const (
	WhenSettled When = 1 << iota // when the world has settled: for each reconciled object, or for the world
	// BeforeCreate is before a dependent is created. At a delete, Check is called for each dependent that remains, as
	// if it were created now and its owner had no other dependents.
	BeforeCreate
	AtWrite  // at each create, update and delete
	AtDelete // when an object begins to terminate, or is removed at once
)

// Facts holds the arguments of an [Invariant]'s Check. At a write, Check is called with the stored objects. If they
// violate the invariant, Check is called again with what the controller had seen: see [Informed].
type Facts struct {
	Now        time.Time
	Owner      runtime.Object   // the reconciled object; nil in an invariant of a world
	Dependents []runtime.Object // the objects that Owner controls, without the written object
	// The object before and after the write. Before is nil for a create, After for a delete. When settled, both are
	// nil.
	Before, After runtime.Object

	Reconciled bool // when settled: Owner was reconciled without error after its controller had received all events
	Forever    bool // when settled: nothing will change any more; false if only the time limit ended the run

	All func(kind string) []runtime.Object // the objects of a kind; in an invariant of a world, those after the write
	Get func(kind, namespace, name string) runtime.Object
}

// Misuse is the judge's panic value for a wrong [Invariant] or [Contract]: a text of one line.
type Misuse string

// Error returns the text.
func (m Misuse) Error() string { return string(m) }

func (c *Contract) invariant(id string) *Invariant {
	for _, v := range c.Invariants {
		if v.ID == id {
			return v
		}
	}
	return nil
}

func (c *Contract) when() (all When) {
	for _, v := range c.Invariants {
		all |= v.When
	}
	return all
}
