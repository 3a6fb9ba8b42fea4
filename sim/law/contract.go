package law

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// Contract says what may be expected of a controller. Its functions must not change the objects they are given. A law
// that needs a field which is not set is not judged.
type Contract struct {
	Profile Profile // which laws apply: at least those that every controller owes the others

	// Ownership: which objects are whose.

	Selector    func(owner runtime.Object) labels.Selector // what an owner selects; a nil result: nothing
	Adoptable   func(owner, orphan runtime.Object) bool    // whether it adopts this orphan that it selects; nil: always
	Ignores     func(owner runtime.Object) bool            // whether it does nothing (more) for an owner: a finished Job
	Standalone  []sim.Ref                                  // objects that it creates without an owner: a Lease, a certificate
	SharedKinds []schema.GroupVersionKind                  // kinds that other controllers of its program work on as well
	MayEdit     []schema.GroupVersionKind                  // kinds that it edits whoever owns them: an autoscaler's targets
	Unwatched   []schema.GroupVersionKind                  // owned kinds whose events wake nobody
	Polls       bool                                       // it lists from time to time; created-by annotations are links

	// Scale: which dependents an owner wants.

	Replicas       func(owner runtime.Object) int             // how many active ones; negative: it makes none for it
	MaxSurge       func(owner runtime.Object) int             // how many more it may have for a moment; nil: none
	MaxUnavailable func(owner runtime.Object) int             // how many fewer by the controller's own deletes; nil: none
	MaxActive      func(owner runtime.Object) int             // how many at one time, without Replicas; negative: any number
	Active         func(dependent runtime.Object) bool        // whether one counts that is not terminating; nil: each does
	Identity       func(dependent runtime.Object) string      // what two of one owner may not both be: a node, an ordinal
	AllowDuplicate func(owner, a, b runtime.Object) bool      // whether two may share an identity for a while; nil: never
	Wanted         func(owner, dependent runtime.Object) bool // whether an owner asks for this very one; nil: any will do
	BlocksCreate   func(owner, dependent runtime.Object) bool // whether no more are made while this one is so; nil: never

	// Status: what an owner says of its dependents.

	Counts  []Count                        // the numbers that count them
	Counted func(owner runtime.Object) int // how many it says it has

	// Finalizers: those that it adds and removes, and why a terminating object keeps one ("": it may go). all lists what
	// is stored of a kind.

	Finalizers      []string
	FinalizerReason func(obj runtime.Object, all func(kind string) []runtime.Object) string

	// RetryOf names what is tried again when a failed dependent is replaced, so that it is not replaced as fast as it
	// fails (WRITE-8); "" for nothing.
	RetryOf func(owner, failed runtime.Object, all func(kind string) []runtime.Object) string

	// Invariants are what must hold of this kind of controller alone.
	Invariants []*Invariant
}

// Count is one number in an owner's status that counts its dependents (EXACT-8).
type Count struct {
	Name string // "readyReplicas"
	// Of is what the status says; negative where it says nothing that follows from the dependents alone.
	Of   func(owner runtime.Object) int
	Ever bool // it counts deleted ones as well: it is at least the number of those that are there once settled
	Once bool // each that ever was such counts once and for good; it may be late (EXACT-12)
	// Is reports whether a dependent that the owner controls, terminating or not, is one of those.
	Is func(owner, dependent runtime.Object) bool
	// Each, in place of Is, is how many a dependent stands for: a Deployment adds up what its ReplicaSets say.
	Each func(owner, dependent runtime.Object) int
}

// of is how many of those that are counted a dependent stands for.
func (c *Count) of(owner, dependent any) int {
	switch {
	case dependent == nil:
		return 0
	case c.Each != nil:
		return c.Each(objectOf(owner), objectOf(dependent))
	case c.Is(objectOf(owner), objectOf(dependent)):
		return 1
	}
	return 0
}

// Profile says which laws apply to a controller. Each holds the one before.
type Profile uint8

// The profiles.
const (
	Ownership Profile = iota // what any controller owes the others
	Writing                  // and the guidelines of Writing Controllers
	Upstream                 // and how kube-controller-manager's own controllers are written

	profiles = 3
)

var profileNames = [profiles]string{"ownership", "writing", "upstream"}

// String names the profile.
func (p Profile) String() string { return profileNames[p] }

// Profiles are the names of the profiles, the smallest first.
func Profiles() []string { return profileNames[:] }
