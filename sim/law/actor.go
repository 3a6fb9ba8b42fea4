package law

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Process names with a meaning for the laws. Neither is an actor.
const (
	User   = "user"      // everyone who acts from outside the world
	Server = "apiserver" // in FaultHit records of the server's downgrade and upgrade
)

// Clauses that a runner of worlds names.
const (
	AlwaysSettles = "EXACT-7"  // violated by a world that does not settle
	SameEnd       = "EXACT-13" // violated by a world that settles otherwise than in a quiet run of the same actions
)

// Reasons of records that end a run.
const (
	Disturbed = "disturbed" // Unsettled: a process is down or a watch is paused
	CutShort  = "cut short" // Settled: only timers of retries were left when the time of the world was over
)

// Actor is a process that is judged: the controller it runs, and the Contract of that controller.
type Actor struct {
	Process    string                    // its name in the records
	Controller string                    // "replicaset"; the GC laws judge "garbagecollector", NS-1 judges "namespace"
	For        schema.GroupVersionKind   // the kind it syncs; zero: it has no dependents
	Owns       []schema.GroupVersionKind // the kinds it creates, claims and deletes

	Contract

	// Opaque is set for a whole program: it is not known when a sync begins and for which object. Laws that need
	// [Syncs] or [Queues] are not checked for it.
	Opaque bool
	// Outside is set for an Opaque program in another process. Only its writes and their answers are known. Only
	// laws with [Law].Outside are checked for it.
	Outside bool

	moments When // when its invariants are checked
}

// objectOf returns a value of a record as an object, or nil.
func objectOf(value any) runtime.Object {
	obj, _ := value.(runtime.Object)
	return obj
}

// collector is the Actor.Controller of the garbage collector. The GC laws judge it.
const collector = "garbagecollector"

// drainer is the Actor.Controller of the namespace controller.
const drainer = "namespace"

func (s *Actor) bounds() bool { return s.moments&AtWrite != 0 && s.For.Kind != "" }

// looks reports whether an invariant is checked for its owners once all has settled.
func (s *Actor) looks() bool { return s.moments&WhenSettled != 0 && s.For.Kind != "" }

func among(kinds []schema.GroupVersionKind, kind string) bool {
	for i := range kinds {
		if kinds[i].Kind == kind {
			return true
		}
	}
	return false
}

func (s *Actor) manages(kind string) bool { return s.For.Kind != "" && among(s.Owns, kind) }

func (s *Actor) standsAlone(o sim.Ref) bool {
	return slices.Contains(s.Standalone, sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

// counts reports whether an object is an active dependent.
func (s *Actor) counts(value any, m metav1.Object) bool {
	return !meta.Deleting(m) && (s.Active == nil || s.Active(objectOf(value)))
}

// leaves reports whether it ignores an owner ([Contract].Ignores).
func (s *Actor) leaves(owner any) bool { return s.Ignores != nil && s.Ignores(objectOf(owner)) }

// willing reports whether it would adopt an orphan that an owner selects.
func (s *Actor) willing(owner any, kind string, orphan any) bool {
	if s.leaves(owner) {
		return false
	}
	if kind == "Pod" && s.For.Kind == "StatefulSet" && s.For.Group == "apps" {
		return numbered(meta.Of(owner).GetName(), meta.Of(orphan).GetName())
	}
	return s.fits(owner, orphan)
}

// isOf reports whether apiVersion is that of the kind it syncs, or the version of that kind is not known.
func (s *Actor) isOf(apiVersion string) bool {
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group, version = "", apiVersion
	}
	return s.For.Version == "" || s.For.Group == group && s.For.Version == version
}

// numbered reports whether pod is the name of a pod of a StatefulSet: its name and a number. The laws use this rule
// whatever the contract says (KIND-STS-1).
func numbered(set, pod string) bool {
	digits, its := strings.CutPrefix(pod, set+"-")
	n, err := strconv.ParseUint(digits, 10, 31)
	return its && err == nil && strconv.FormatUint(n, 10) == digits
}

// fits reports whether an owner may adopt an object that it selects ([Contract].Adoptable).
func (s *Actor) fits(owner, orphan any) bool {
	return s.Adoptable == nil || s.Adoptable(objectOf(owner), objectOf(orphan))
}

// floor returns the fewest active dependents that an owner may have.
func (s *Actor) floor(owner any) int {
	n := s.Replicas(objectOf(owner))
	if s.MaxUnavailable != nil {
		n -= s.MaxUnavailable(objectOf(owner))
	}
	return n
}

// roof returns the most active dependents that an owner may have; negative if the contract sets no limit. For an
// owner that it ignores, it is as if the owner wanted 0.
func (s *Actor) roof(owner any) int {
	n := s.Replicas(objectOf(owner))
	if s.leaves(owner) {
		n = 0
	}
	if s.MaxSurge != nil && n >= 0 {
		n += s.MaxSurge(objectOf(owner))
	}
	return n
}

// mostAtOnce returns the most dependents that an owner may have at a time, by Replicas or MaxActive; negative if
// the contract sets no limit.
func (s *Actor) mostAtOnce(owner any) int {
	if s.Replicas == nil {
		return s.MaxActive(objectOf(owner))
	}
	return s.roof(owner)
}

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
