package law

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// Contract says what a controller promises. Its functions must not change the objects that they get. Laws that need
// an unset field are not judged.
type Contract struct {
	Profile Profile // which laws apply

	// Ownership: which objects are whose.

	Selector    func(owner runtime.Object) labels.Selector // what an owner selects; a nil result: nothing
	Adoptable   func(owner, orphan runtime.Object) bool    // whether it adopts this orphan that it selects; nil: always
	Ignores     func(owner runtime.Object) bool            // whether it does nothing (more) for an owner, such as a finished Job
	Standalone  []sim.Ref                                  // objects that it creates without an owner, such as a Lease
	SharedKinds []schema.GroupVersionKind                  // kinds that other controllers of its program work on as well
	MayEdit     []schema.GroupVersionKind                  // kinds that it edits whoever owns them, such as an autoscaler's targets
	Unwatched   []schema.GroupVersionKind                  // owned kinds whose events enqueue nothing
	Polls       bool                                       // it lists periodically; created-by annotations link objects to owners

	// Scale: which dependents an owner wants.

	Replicas       func(owner runtime.Object) int             // how many active ones; negative: it creates none for it
	MaxSurge       func(owner runtime.Object) int             // how many more it may have temporarily; nil: none
	MaxUnavailable func(owner runtime.Object) int             // how many fewer by the controller's own deletes; nil: none
	MaxActive      func(owner runtime.Object) int             // how many at one time, without Replicas; negative: any number
	Active         func(dependent runtime.Object) bool        // whether a dependent that is not terminating counts; nil: all do
	Identity       func(dependent runtime.Object) string      // no two of an owner may share it: a node, an ordinal
	AllowDuplicate func(owner, a, b runtime.Object) bool      // whether two may share an identity temporarily; nil: never
	Wanted         func(owner, dependent runtime.Object) bool // whether an owner wants this very dependent; nil: any will do
	BlocksCreate   func(owner, dependent runtime.Object) bool // whether no more are created while this one is so; nil: never

	// Status: what an owner says of its dependents.

	Counts  []Count                        // the numbers that count them
	Counted func(owner runtime.Object) int // how many it says it has

	// Finalizers that it adds and removes, and why a terminating object keeps one ("": it may be removed). all
	// lists the stored objects of a kind.

	Finalizers      []string
	FinalizerReason func(obj runtime.Object, all func(kind string) []runtime.Object) string

	// RetryOf names what is retried when a failed dependent is replaced, "" for nothing. Retries need a backoff
	// (WRITE-8).
	RetryOf func(owner, failed runtime.Object, all func(kind string) []runtime.Object) string

	// Invariants hold for this kind of controller only.
	Invariants []*Invariant
}

// Count is one number in an owner's status that counts its dependents (EXACT-8).
type Count struct {
	Name string // "readyReplicas"
	// Of returns the number in the status; negative if it does not follow from the dependents alone.
	Of   func(owner runtime.Object) int
	Ever bool // it includes deleted ones: once settled it is at least the number of matching ones that exist
	Once bool // each that ever matched counts once and for good; it may lag (EXACT-12)
	// Is reports whether it counts a dependent that the owner controls, terminating or not.
	Is func(owner, dependent runtime.Object) bool
	// Each replaces Is: how many a dependent stands for. A Deployment adds up numbers of its ReplicaSets.
	Each func(owner, dependent runtime.Object) int
}

// of returns how much a dependent adds to the count.
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

// Profile selects the laws that apply to a controller. Each profile includes the one before.
type Profile uint8

const (
	Ownership Profile = iota // laws that every controller must keep
	Writing                  // and the guidelines of Writing Controllers
	Upstream                 // and the conventions of kube-controller-manager

	profiles = 3
)

var profileNames = [profiles]string{"ownership", "writing", "upstream"}

// String returns the name of the profile.
func (p Profile) String() string { return profileNames[p] }

// Profiles are the names of the profiles, the smallest first.
func Profiles() []string { return profileNames[:] }
