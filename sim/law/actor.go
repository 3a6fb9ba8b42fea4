package law

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// The process names that are no actor's but mean something to the laws.
const (
	User   = "user"      // whoever acts from outside the world
	Server = "apiserver" // in FaultHit records of its own downgrade and upgrade
)

// Actor is a process that is judged: which controller it runs, and the Contract of that.
type Actor struct {
	Process    string                    // its name in the records
	Controller string                    // "replicaset"; the GC laws are about "garbagecollector", NS-1 is about "namespace"
	For        schema.GroupVersionKind   // the kind it syncs; zero for none: the laws on dependents don't concern it
	Owns       []schema.GroupVersionKind // the kinds it creates, claims and deletes

	Contract

	// Opaque is a whole program: nobody knows when a sync begins and whom it is for. Laws that need [Syncs] or
	// [Queues] are not asked of it.
	Opaque bool
	// Outside is an Opaque one in another process than the world: nothing is known but what it wrote, and what
	// that was answered. It is asked the laws for which that is enough ([Law].Outside).
	Outside bool

	moments When // at which its invariants are asked
}

// objectOf is a value of a record as an object; nil for none.
func objectOf(value any) runtime.Object {
	obj, _ := value.(runtime.Object)
	return obj
}

// collector is the name of the garbage collector's controller: the GC laws
// judge actors whose Controller it is.
const collector = "garbagecollector"

// drainer is the Controller of an [Actor] that empties namespaces.
const drainer = "namespace"

// bounds reports whether invariants are asked of writes to its dependents.
func (s *Actor) bounds() bool { return s.moments&AtWrite != 0 && s.For.Kind != "" }

// looks reports whether invariants are asked of its owners once all has settled.
func (s *Actor) looks() bool { return s.moments&WhenSettled != 0 && s.For.Kind != "" }

// among reports whether a kind is one of a list.
func among(kinds []schema.GroupVersionKind, kind string) bool {
	for i := range kinds {
		if kinds[i].Kind == kind {
			return true
		}
	}
	return false
}

func (s *Actor) manages(kind string) bool { return s.For.Kind != "" && among(s.Owns, kind) }

// standsAlone reports whether an object is one that it makes for itself.
func (s *Actor) standsAlone(o sim.Ref) bool {
	return slices.Contains(s.Standalone, sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

// counts reports whether an object is an active dependent.
func (s *Actor) counts(value any, m metav1.Object) bool {
	return !meta.Deleting(m) && (s.Active == nil || s.Active(objectOf(value)))
}

// leaves reports whether it does nothing for an owner, or nothing more.
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

// isOf reports whether an apiVersion is the one of the kind that it syncs, or that is not known.
func (s *Actor) isOf(apiVersion string) bool {
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group, version = "", apiVersion
	}
	return s.For.Version == "" || s.For.Group == group && s.For.Version == version
}

// numbered reports whether a pod's name is that of a StatefulSet's pod of some number. It is the
// laws' own rule, whatever the contract says (KIND-STS-1).
func numbered(set, pod string) bool {
	digits, its := strings.CutPrefix(pod, set+"-")
	n, err := strconv.ParseUint(digits, 10, 31)
	return its && err == nil && strconv.FormatUint(n, 10) == digits
}

// fits reports whether it takes an object that an owner selects for one of that owner's.
func (s *Actor) fits(owner, orphan any) bool {
	return s.Adoptable == nil || s.Adoptable(objectOf(owner), objectOf(orphan))
}

// floor is how many active dependents an owner may not have less than.
func (s *Actor) floor(owner any) int {
	n := s.Replicas(objectOf(owner))
	if s.MaxUnavailable != nil {
		n -= s.MaxUnavailable(objectOf(owner))
	}
	return n
}

// roof is how many it may not have more than; negative where it does not say. What it
// leaves alone it makes nothing for.
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

// mostAtOnce is how many an owner may have at one time, by its number or by its limit;
// negative where it does not say.
func (s *Actor) mostAtOnce(owner any) int {
	if s.Replicas == nil {
		return s.MaxActive(objectOf(owner))
	}
	return s.roof(owner)
}
