package law

import (
	"fmt"
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

// Process names with a meaning for the laws. No actor has these names.
const (
	User   = "user"      // the user of a simulated world
	Server = "apiserver" // the process in FaultHit records about a downgrade or an upgrade of the API server
)

// IDs of clauses that other packages refer to.
const (
	AlwaysSettles = "EXACT-7"  // violated by a world that does not settle
	SameEnd       = "EXACT-13" // violated if a settled world differs from a world with the same actions and no faults
)

// Reasons of records that end a run.
const (
	Disturbed = "disturbed" // in an Unsettled record: a process is down or a watch is paused
	CutShort  = "cut short" // in a Settled record: the time limit was reached, or a program lacks a server outside of the world
)

// Actor is a process that is judged: it runs a controller with a Contract.
type Actor struct {
	Process    string                    // the name of the process in records
	Controller string                    // "replicaset"; GC laws judge "garbagecollector", NS-1 judges "namespace"
	For        schema.GroupVersionKind   // the kind that the controller reconciles; zero for none
	Owns       []schema.GroupVersionKind // the kinds that the controller creates, claims and deletes

	Contract

	// Opaque is set for a whole program. The records do not say when it reconciles which object. A law that needs
	// [Syncs] or [Queues] is checked for it only if the [Law] sets Races, FromSettled or Ends.
	Opaque bool
	// Announces is set for an Opaque program that announces its reconciles. Records of an announced reconcile have For.
	Announces bool
	// Outside is set for an Opaque program in another process. The records contain only its writes and their answers.
	// Only laws with [Law].Outside are checked for it.
	Outside bool

	moments When // the moments at which the invariants of Contract are checked
}

// objectOf returns a value of a record as an object, or nil.
func objectOf(value any) runtime.Object {
	obj, _ := value.(runtime.Object)
	return obj
}

// collector is the Actor.Controller of the garbage collector, which the GC laws judge.
const collector = "garbagecollector"

// drainer is the Actor.Controller of the namespace controller.
const drainer = "namespace"

func (s *Actor) bounds() bool { return s.moments&AtWrite != 0 && s.For.Kind != "" }

// looks reports whether the actor has an invariant that is checked for each reconciled object of the settled world.
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

// outlives reports whether an object has no references, and may be created without them ([Contract].Outlives).
func (s *Actor) outlives(kind string, m metav1.Object) bool {
	return among(s.Outlives, kind) && len(m.GetOwnerReferences()) == 0
}

// counts reports whether a dependent is active: it is not terminating, and [Contract].Active accepts it.
func (s *Actor) counts(value any, m metav1.Object) bool {
	return !meta.Deleting(m) && (s.Active == nil || s.Active(objectOf(value)))
}

// leaves reports whether the actor ignores an owner ([Contract].Ignores).
func (s *Actor) leaves(owner any) bool { return s.Ignores != nil && s.Ignores(objectOf(owner)) }

// willing reports whether the actor would adopt an orphan that the owner selects.
func (s *Actor) willing(owner any, kind string, orphan any) bool {
	if s.leaves(owner) {
		return false
	}
	if kind == "Pod" && s.For.Kind == "StatefulSet" && s.For.Group == "apps" {
		return numbered(meta.Of(owner).GetName(), meta.Of(orphan).GetName())
	}
	return s.fits(owner, orphan)
}

// numbered reports whether a pod has a name that a StatefulSet gives: the set's name and a number. The rule holds for
// every StatefulSet, whatever the actor's contract says (KIND-STS-1).
func numbered(set, pod string) bool {
	digits, its := strings.CutPrefix(pod, set+"-")
	n, err := strconv.ParseUint(digits, 10, 31)
	return its && err == nil && strconv.FormatUint(n, 10) == digits
}

// fits reports whether an owner may adopt an object that it selects ([Contract].Adoptable).
func (s *Actor) fits(owner, orphan any) bool {
	return s.Adoptable == nil || s.Adoptable(objectOf(owner), objectOf(orphan))
}

// allowed returns the contract's MaxSurge or MaxUnavailable for an owner. The parameter by is that function, and field
// is its name. If by is nil, the result is 0. If by returns a negative number, allowed panics with a [Misuse].
func (s *Actor) allowed(field string, by func(owner runtime.Object) int, owner any) int {
	if by == nil {
		return 0
	}
	n := by(objectOf(owner))
	if n < 0 {
		m := meta.Of(owner)
		ref := sim.Ref{Kind: s.For.Kind, Namespace: m.GetNamespace(), Name: m.GetName()}
		panic(Misuse(fmt.Sprintf("controller %s: Contract.%s of %s is %d: at least 0", s.Controller, field, ref, n)))
	}
	return n
}

// floor returns the minimum number of active dependents of an owner: Replicas minus MaxUnavailable.
func (s *Actor) floor(owner any) int {
	return s.Replicas(objectOf(owner)) - s.allowed("MaxUnavailable", s.MaxUnavailable, owner)
}

// roof returns the maximum number of active dependents of an owner: Replicas plus MaxSurge. If the actor ignores the
// owner, Replicas counts as 0. If Replicas is negative, so is the result.
func (s *Actor) roof(owner any) int {
	n := s.Replicas(objectOf(owner))
	if s.leaves(owner) {
		n = 0
	}
	if n >= 0 {
		n += s.allowed("MaxSurge", s.MaxSurge, owner)
	}
	return n
}

// mostAtOnce returns the maximum number of dependents of an owner at one time, from Replicas or MaxActive. It is
// negative if the contract sets no limit.
func (s *Actor) mostAtOnce(owner any) int {
	if s.Replicas == nil {
		return s.MaxActive(objectOf(owner))
	}
	return s.roof(owner)
}

// Contract says what a controller promises. Its functions must not change their arguments. A law that needs an unset
// field is not checked.
type Contract struct {
	Profile Profile // which laws apply
	Exempt  bool    // the controller is not under test: only fights with other controllers are reported

	// Ownership: which objects belong to which owner.

	Selector    func(owner runtime.Object) labels.Selector // the owner's selector; a nil result selects nothing
	Adoptable   func(owner, orphan runtime.Object) bool    // whether the controller adopts an orphan that the owner selects; nil: always
	Ignores     func(owner runtime.Object) bool            // whether the controller does nothing (more) for an owner, such as a finished Job
	Standalone  []sim.Ref                                  // objects that the controller creates without an owner, such as a Lease
	Outlives    []schema.GroupVersionKind                  // kinds that the controller may create without references, so that they outlive their owner
	SharedKinds []schema.GroupVersionKind                  // kinds that other controllers of the same program also write
	MayEdit     []schema.GroupVersionKind                  // kinds that the controller edits without owning them, such as an autoscaler's targets
	Unwatched   []schema.GroupVersionKind                  // owned kinds whose events enqueue nothing
	Polls       bool                                       // the controller lists periodically, without watches; annotations link objects to owners

	// Scale: which dependents an owner should have.

	Replicas       func(owner runtime.Object) int             // wanted number of active dependents; negative: unknown, or none are created
	MaxSurge       func(owner runtime.Object) int             // how many above Replicas may exist for a while; nil: none
	MaxUnavailable func(owner runtime.Object) int             // how far below Replicas the controller's own deletes may go; nil: not at all
	MaxActive      func(owner runtime.Object) int             // maximum of active dependents at one time if Replicas is nil; negative: no limit
	Active         func(dependent runtime.Object) bool        // whether a dependent is active, if it is not terminating; nil: always
	Identity       func(dependent runtime.Object) string      // what only one active dependent of an owner may have, such as a node; "" for none
	AllowDuplicate func(owner, a, b runtime.Object) bool      // whether a and b may share an identity for a while (if b is a: a and any); nil: never
	Wanted         func(owner, dependent runtime.Object) bool // whether the owner wants this very dependent; nil: only the number matters
	BlocksCreate   func(owner, dependent runtime.Object) bool // whether the state of a dependent forbids further creates for now; nil: never

	// Status: what an owner's status says about its dependents.

	Counts  []Count                        // the status fields that count dependents
	Counted func(owner runtime.Object) int // the number of dependents in the owner's status

	// Finalizers are the finalizers that the controller adds and removes. FinalizerReason returns why these finalizers
	// must stay on obj, or "" if they may be removed. all lists the stored objects of a kind.

	Finalizers      []string
	FinalizerReason func(obj runtime.Object, all func(kind string) []runtime.Object) string

	// RetryOf names the work that the controller retries when it replaces a failed dependent, such as "2 on node-a"; ""
	// for none. Such a retry needs a backoff (WRITE-8).
	RetryOf func(owner, failed runtime.Object, all func(kind string) []runtime.Object) string

	// Invariants are rules of this controller in addition to the laws.
	Invariants []*Invariant
}

// Count is one number in an owner's status that counts its dependents (EXACT-8).
type Count struct {
	Name string // the name of the status field: "readyReplicas"
	// Of returns the number in the status. It is negative if the number does not follow from the dependents alone.
	Of   func(owner runtime.Object) int
	Ever bool // the number may include deleted dependents, up to all that ever existed
	Once bool // each dependent that ever matched counts once, even if deleted; the status may lag (EXACT-12)
	// Is reports whether the number includes a dependent. The owner controls the dependent, which may be terminating.
	Is func(owner, dependent runtime.Object) bool
	// Each, if set, replaces Is. It returns how much a dependent adds to the number. For example, a ReplicaSet adds its
	// readyReplicas to the number in its Deployment's status.
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
	Writing                  // also the rules of the guide "Writing Controllers"
	Upstream                 // also the conventions of kube-controller-manager

	profiles = 3
)

var profileNames = [profiles]string{"ownership", "writing", "upstream"}

// String returns the name of the profile.
func (p Profile) String() string { return profileNames[p] }

// Profiles returns the names of the profiles, the smallest profile first.
func Profiles() []string { return profileNames[:] }
