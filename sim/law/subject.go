package law

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// The process names that are nobody's subject but mean something to the laws.
const (
	User   = "user"      // whoever acts from outside the world
	Server = "apiserver" // in FaultHit records of its own downgrade and upgrade
)

// Subject tells the laws what they must know of one process's controller. The
// functions are given the objects of the records and must not change them.
type Subject struct {
	Process    string    // its name in the records
	Controller string    // "replicaset"; the GC laws are about "garbagecollector", NS-1 is about "namespace"
	Kind       string    // the kind it syncs; "" for none: the laws on collections don't concern it
	APIVersion string    // of Kind; "" where the source of records does not say
	Dependents []string  // the kinds it creates, claims and deletes
	Standalone []sim.Ref // objects that it makes for itself, without an owner, by kind, namespace and name
	Also       []string  // kinds that other controllers of the same program work on
	Tends      []string  // kinds it edits by its office, whoever owns them: an autoscaler's targets; see Spares
	Finalizers []string  // those it puts on objects and takes off again
	// Keeps says why an object that is being deleted keeps one of them as things stand (EXACT-6, FIN-3), "" where it
	// need not; nil: nothing does.
	Keeps   func(obj any, all func(kind string) []any) string
	Profile Profile // which laws it is held to
	// Opaque is one of which nobody knows when a sync begins and whom it is for, as a whole
	// program: laws that need [Syncs] or [Queues] are not asked of it.
	Opaque bool
	// Outside is an Opaque one in another process than the world: nothing is known but what it wrote, and what
	// that was answered. It is asked the laws for which that is enough ([Law.Outside]).
	Outside bool

	Selector func(owner any) labels.Selector // what an owner selects; nil or a nil result: nothing, or nobody knows
	Replicas func(owner any) int             // how many active dependents an owner wants; nil: not judged
	Active   func(object any) bool           // whether a dependent counts; nil: whether it is not being deleted
	Counted  func(owner any) int             // how many dependents an owner's status claims; nil: not judged
	Willing  func(owner, object any) bool    // whether it would adopt this matching orphan; nil: always
	Polls    bool                            // works by polling: no WATCH laws; created-by is a link (KIND-CRON-2)
	Leaves   func(owner any) bool            // whether it does nothing (more) for an owner; nil: for none

	Surge       func(owner any) int          // how many active dependents it may have beyond that (EXACT-2); nil: none
	Unavailable func(owner any) int          // how many it may lack by deletes of its own (EXACT-1); nil: none
	Most        func(owner any) int          // how many at one time, for one without Replicas (EXACT-2); negative: any
	Identity    func(dependent any) string   // what only one of an owner's may be (EXACT-3); "": none; nil: not judged
	Counts      []Count                      // the numbers of an owner's status that count dependents (EXACT-8)
	Wanted      func(owner, object any) bool // whether it asks for this very one; nil: any is as good as another
	Awaits      func(owner, object any) bool // whether it makes no more while this one is so; nil: never
	Unwatched   []string                     // those of Dependents that the WATCH laws don't concern
	Twins       func(owner, a, b any) bool   // whether an owner may have both of one identity (EXACT-3); nil: no
	// Amiss says what is wrong at rest with an owner's dependents (KIND-DS), "" for nothing; nil: not judged.
	Amiss func(owner any, own []any, all func(kind string) []any) string
	// Neglects is Amiss of what no event need wake anybody for: asked of an owner that was looked at since (KIND-DS).
	Neglects func(owner any, own []any, all func(kind string) []any) string
	// Lacks says what a dependent rests on and is not there to stay (EXACT-9), "" for nothing; nil: not judged.
	Lacks func(owner, dependent any, all func(kind string) []any) string
	// Oversteps says in what a write to one dependent goes beyond what an owner allows of all (EXACT-11).
	Oversteps func(owner any, others []any, before, after any, now time.Time, all func(kind string) []any) string
	// Strands says what is to go with a dependent, and would not if that were deleted (EXACT-10).
	Strands func(owner, dependent any, all func(kind string) []any) string
	// Retries names what is tried again when a dependent that has failed is deleted (WRITE-8), "" for nothing.
	Retries func(owner, dependent any, all func(kind string) []any) string
	// Stays says why an object is not deleted by it as yet (TTL-1), "" where it is to go; nil: not judged.
	Stays func(object any, now time.Time) string
	// Spares says why an object may not be written, or removed, by it (PODGC-1), "" where it may; nil: not judged.
	Spares func(object any, deletes bool, get func(kind, namespace, name string) any) string
	// Quarantine is how long what Spares asks for must have been gone before it counts as gone.
	Quarantine time.Duration
}

// Count is one number in an owner's status that says how many of its dependents
// are in some state.
type Count struct {
	Name string                          // "readyReplicas"
	Of   func(owner any) int             // what the status says; negative where it says nothing
	Ever bool                            // it counts those that are gone as well
	Once bool                            // it counts for good, and may be late: each that ever was such once (EXACT-12)
	Is   func(owner, dependent any) bool // whether a dependent that the owner controls is one of those
	Each func(owner, dependent any) int  // in place of Is: how many of those it stands for
}

// of is how many of those that are counted a dependent stands for.
func (c *Count) of(owner, dependent any) int {
	switch {
	case dependent == nil:
		return 0
	case c.Each != nil:
		return c.Each(owner, dependent)
	case c.Is(owner, dependent):
		return 1
	}
	return 0
}

// collector is the name of the garbage collector's controller: the GC laws
// judge processes whose Subject has it.
const collector = "garbagecollector"

// drainer is the Controller of a [Subject] that empties namespaces.
const drainer = "namespace"

func (s *Subject) manages(kind string) bool {
	return s.Kind != "" && slices.Contains(s.Dependents, kind)
}

// standsAlone reports whether an object is one that it makes for itself.
func (s *Subject) standsAlone(o sim.Ref) bool {
	return slices.Contains(s.Standalone, sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

// counts reports whether an object is an active dependent.
func (s *Subject) counts(value any, m metav1.Object) bool {
	return !meta.Deleting(m) && (s.Active == nil || s.Active(value))
}

// leaves reports whether it does nothing for an owner, or nothing more.
func (s *Subject) leaves(owner any) bool { return s.Leaves != nil && s.Leaves(owner) }

// willing reports whether it would adopt an orphan that an owner selects.
func (s *Subject) willing(owner any, kind string, object any) bool {
	if s.leaves(owner) {
		return false
	}
	if kind == "Pod" && s.Kind == "StatefulSet" && strings.HasPrefix(s.APIVersion, "apps/") {
		return numbered(meta.Of(owner).GetName(), meta.Of(object).GetName())
	}
	return s.fits(owner, object)
}

// numbered reports whether a pod's name is that of a StatefulSet's pod of some number. It is the
// laws' own rule, whatever the subject says of itself (KIND-STS-1).
func numbered(set, pod string) bool {
	digits, its := strings.CutPrefix(pod, set+"-")
	n, err := strconv.ParseUint(digits, 10, 31)
	return its && err == nil && strconv.FormatUint(n, 10) == digits
}

// fits reports whether it takes an object that an owner selects for one of that owner's.
func (s *Subject) fits(owner, object any) bool { return s.Willing == nil || s.Willing(owner, object) }

// Profile says which laws a controller owes. Each holds the one before.
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

// floor is how many active dependents an owner may not have less than.
func (s *Subject) floor(owner any) int {
	n := s.Replicas(owner)
	if s.Unavailable != nil {
		n -= s.Unavailable(owner)
	}
	return n
}

// roof is how many it may not have more than; negative where it does not say. What it
// leaves alone it makes nothing for.
func (s *Subject) roof(owner any) int {
	n := s.Replicas(owner)
	if s.leaves(owner) {
		n = 0
	}
	if s.Surge != nil && n >= 0 {
		n += s.Surge(owner)
	}
	return n
}

// mostAtOnce is how many an owner may have at one time, by its number or by its limit;
// negative where it does not say.
func (s *Subject) mostAtOnce(owner any) int {
	if s.Replicas == nil {
		return s.Most(owner)
	}
	return s.roof(owner)
}
