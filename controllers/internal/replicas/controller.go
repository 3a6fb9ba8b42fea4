// Package replicas is the code that ReplicaSet and ReplicationController share:
// keep a number of pods, all made from one template. A [Traits] holds what
// differs between the two, a [Era] how the controller decides which pods
// are its own.
//
// A sync reads the set and its pods from the caches, claims pods, creates or
// deletes the difference, and writes the status.
package replicas

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/consistency"
	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Options choose a controller.
type Options struct {
	Era Era
	// GarbageCollector says that the garbage collector is enabled; of [Gated] only.
	GarbageCollector bool
	Without          Without
}

// Without names guards to disable; see package mutants. The zero value keeps all. One place checks each guard.
type Without struct {
	Ref     ref.Without
	Routing routing.Without

	Active      bool // pods that are being deleted are claimed like others
	OwnCount    bool // every matching pod counts as the set's own, whoever owns it
	OwnStatus   bool // ... in the status only
	OwnVictims  bool // every matching pod may be deleted as surplus, whoever owns it
	TakeOwned   bool // pods are created without a reference to the set
	Controller  bool // ... with a reference that is not a ControllerRef
	OwnerName   bool // ... with a reference that has the set's uid and another name
	Rivals      bool // other sets that select the same pods are scaled to nothing
	RivalsStay  bool // ... are deleted
	Terminating bool // a set that is being deleted creates and deletes pods
	VictimUID   bool // pods are deleted by name, whatever pod has it by now
	Dying       bool // pods that are being deleted count as if they stayed
	Ready       bool // the status counts every pod as ready

	Wait            bool // a sync creates and deletes whatever is still expected
	Recheck         bool // expected deletions are not compared with the cache
	Adopted         bool // ... which take a pod whose adoption the cache is yet to show for one that was lost
	RecheckDying    bool // ... with respect to pods whose deletion it was shown before it expected it
	ExpectFirst     bool // expectations are recorded after the writes, not before
	MadeByName      bool // creations are but counted: any that is seen is taken for one that is expected
	CreationSeen    bool // creations that were seen stay expected
	FirstSeenDying  bool // creations that are first seen while they are being deleted stay expected
	FailedCreation  bool // creations that failed stay expected
	MissingDeletion bool // deletions of pods that were gone already stay expected
	Successor       bool // expectations of a set are taken for those of its namesake
	Missing         bool // expectations of a set that a sync finds gone are kept
	DeleteErrors    bool // a deletion that was refused is not tried again

	Consistency bool // a sync begins before it was shown what the set wrote
	SharedCache bool // cached pods are changed in place
	Backoff     bool // a failed sync is repeated at once
	Growth      bool // ... is forgotten, and so repeated after the shortest backoff each time
	Unchanged   bool // a status that is right already is written again
}

// New returns the controller of a kind in an era.
func New(kind *Traits, o Options) host.Controller {
	c := host.Controller{
		Name:   kind.Name,
		Era:    string(o.Era),
		For:    kind.GVK,
		Owns:   []schema.GroupVersionKind{pod.Kind},
		New:    func(env *host.Env) host.Reconciler { return newReconciler(kind, &o, env) },
		Routes: []host.Route{routing.Own(kind.GVK, &o.Without.Routing), podRoute(kind, &o)},
		Contract: law.Contract{
			Selector: func(owner runtime.Object) labels.Selector { s := kind.Read(owner); return s.Selector() },
			Replicas: func(owner runtime.Object) int { s := kind.Read(owner); return s.wants() },
			Counted:  func(owner runtime.Object) int { return int(kind.Read(owner).Status.Replicas) },
			Counts:   counts(kind),
			Profile:  law.Upstream,
			Active:   func(p runtime.Object) bool { return !pod.Ended(p.(*corev1.Pod)) },
		},
	}
	return c
}

func podRoute(kind *Traits, o *Options) host.Route {
	if !o.Era.owned() {
		// The gated era, too: its checklist leaves "Use ControllerRef to
		// map watch events to controllers" open.
		t := &routing.TieBreak{Owner: kind.GVK, Selects: kind.Selects}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: kind.GVK, Selects: kind.Selects, Later: kind.availableLater,
		Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

// availableLater is how long after a pod became ready its set has to look
// whether it is available.
func (k *Traits) availableLater(owner, old, cur runtime.Object) time.Duration {
	if pod.Ready(old.(*corev1.Pod)) || !pod.Ready(cur.(*corev1.Pod)) {
		return 0
	}
	return time.Duration(k.Read(owner).MinReadySeconds) * time.Second
}

// reconciler is the controller's memory: what it expects, and what it has written
// and not been shown; nothing else (API-5).
type reconciler struct {
	kind     *Traits
	options  *Options
	env      *host.Env
	client   host.Client
	sets     cache.Indexer
	pods     cache.Indexer
	expected *expectations.Expectations
	written  *consistency.Store // nil: none
}

func newReconciler(kind *Traits, o *Options, env *host.Env) *reconciler {
	r := &reconciler{kind: kind, options: o, env: env, client: env.Client, expected: expectations.New(env.Now)}
	if o.Era == Current && kind.Consistent && !o.Without.Consistency {
		r.written = consistency.New(env.Behind)
		r.client = r.written.Pods(env.Client)
	}
	r.sets = env.Informer(kind.GVK).GetIndexer()
	r.pods = env.Informer(pod.Kind).GetIndexer()
	if o.Era.owned() {
		pod.Index(r.pods)
	}
	return r
}

// Observed strikes out what a route says was seen.
func (r *reconciler) Observed(key string, deletion bool, object string) {
	switch {
	case deletion:
		r.expected.Deleted(key, object)
		if !r.options.Without.FirstSeenDying {
			r.expected.Dying(key, object)
		}
	case !r.options.Without.CreationSeen:
		r.expected.Seen(key, object)
	}
}

// Forget drops what was expected and written for a key.
func (r *reconciler) Forget(key string) {
	r.expected.Forget(key)
	r.written.Clear(key, "")
}

// Waiting lists the keys that will not scale until they have seen something.
func (r *reconciler) Waiting() []string { return r.expected.Waiting() }

// Digest digests the memory.
func (r *reconciler) Digest(h *sim.Hash) {
	r.expected.Digest(h)
	r.written.Digest(h)
}

// Traits is what differs between the two kinds of set.
type Traits struct {
	Name string // of the controller: "replicaset"
	GVK  schema.GroupVersionKind

	// Read reads an object of the kind.
	Read func(obj runtime.Object) Set
	// WithStatus returns a shallow copy of the object with another status.
	WithStatus func(obj runtime.Object, s appsv1.ReplicaSetStatus) runtime.Object
	// Terminating says that the status counts pods that are being deleted (in the
	// current era).
	Terminating bool
	// Consistent says that a sync waits until it was shown what the set wrote (in
	// the current era: RULES D45, D50).
	Consistent bool
}

// Set is one ReplicaSet or ReplicationController. It shares everything with the
// object it was read from.
type Set struct {
	*metav1.ObjectMeta
	Object          runtime.Object
	Replicas        int
	MinReadySeconds int32
	Template        *corev1.PodTemplateSpec
	Status          appsv1.ReplicaSetStatus

	equal       map[string]string
	expressions *metav1.LabelSelector
}

// Select makes the set select by equal labels. No labels select nothing.
func (s *Set) Select(equal map[string]string) { s.equal = equal }

// SelectBy makes the set select by a label selector. One that is nil or empty
// selects nothing: no set that owns every pod was ever meant.
func (s *Set) SelectBy(selector *metav1.LabelSelector) {
	if selector == nil {
		return
	}
	s.equal = selector.MatchLabels
	if len(selector.MatchExpressions) > 0 {
		s.expressions = selector
	}
}

// Matches says whether the set's selector matches labels.
func (s *Set) Matches(have map[string]string) bool {
	if s.expressions != nil {
		selector := s.Selector()
		return selector != nil && selector.Matches(labels.Set(have))
	}
	return len(s.equal) > 0 && ref.Contains(have, s.equal)
}

// Selector is the set's selector; nil for one that selects nothing, or that an
// earlier version of the server stored and nobody can read.
func (s *Set) Selector() labels.Selector {
	if s.expressions != nil {
		selector, err := metav1.LabelSelectorAsSelector(s.expressions)
		if err != nil {
			return nil
		}
		return selector
	}
	if len(s.equal) == 0 {
		return nil
	}
	return labels.SelectorFromValidatedSet(s.equal)
}

// selectsNothing reports whether the set has no selector that can be read.
func (s *Set) selectsNothing() bool {
	return len(s.equal) == 0 && s.expressions == nil || s.expressions != nil && s.Selector() == nil
}

// Selects is the form of [Set.Matches] that routes use.
func (k *Traits) Selects(owner runtime.Object, have map[string]string) bool {
	s := k.Read(owner)
	return s.Matches(have)
}

// wants is how many pods the set wants; negative for one that selects nothing, as
// nothing is done about those that it has.
func (s *Set) wants() int {
	if s.selectsNothing() {
		return -1
	}
	return s.Replicas
}

// Era is a way of deciding which pods are a set's own.
type Era string

// The eras.
const (
	// Selector: every active pod that the selector matches (before ControllerRef).
	Selector Era = "selector"
	// Gated: ControllerRef, but only while the garbage collector is enabled, and
	// with the gaps that the proposal's checklist leaves open.
	Gated Era = "gated"
	// ControllerRef: the proposal in full, and nothing that came after it.
	ControllerRef Era = "controllerref"
	// Current: what Kubernetes 1.36 does. Beside the proposal, a sync waits until
	// its caches show what was written (ReplicaSets only: RULES D45, D50), creations
	// start slowly (RULES E58), deletion goes by cost, neighbours and age
	// (RULES E57), the status counts pods that are being deleted, and pods that are
	// not available yet are looked at again when they are.
	Current Era = "current"
)

// owned reports whether pods are the set's by ControllerRef, by all rules of the
// proposal.
func (g Era) owned() bool { return g == ControllerRef || g == Current }
