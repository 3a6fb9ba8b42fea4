// Package replicas is the common code of ReplicaSet and ReplicationController. It keeps a number of pods of one
// template. [Traits] holds the differences between the two kinds. An [Era] determines which pods a set owns.
//
// A reconcile reads the set and its pods from the caches, claims pods, creates or deletes pods, and writes the status.
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
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

type Options struct {
	Era Era
	// GarbageCollector means that the garbage collector is enabled. Use it only with the era [Gated].
	GarbageCollector bool
	Without          Without
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Ref     ref.Without
	Routing routing.Without

	Active      bool // also claim terminating pods
	OwnCount    bool // treat every matching pod as the set's own
	OwnStatus   bool // count every matching pod in the status
	OwnVictims  bool // delete any matching pod as surplus, even if another owner has it
	TakeOwned   bool // create pods without a reference to the set
	Controller  bool // create pods with a reference that is not a ControllerRef
	OwnerName   bool // create pods with a reference that has the set's uid and another name
	Rivals      bool // scale other sets that select the set's pods to zero
	RivalsStay  bool // delete other sets that select the set's pods
	Terminating bool // create and delete pods for a terminating set
	VictimUID   bool // delete pods by name, even if the name now belongs to a recreated pod
	Dying       bool // do not replace a terminating pod before it is gone
	Ready       bool // the status counts every pod as ready

	Wait            bool // create and delete pods despite pending expectations
	Recheck         bool // do not compare expected deletions with the cache
	Adopted         bool // drop the expected deletion of an adopted pod if the cache does not show the adoption yet
	RecheckDying    bool // keep the expected deletion of a pod that the cache already shows as terminating
	ExpectFirst     bool // record expectations after the writes, not before
	MadeByName      bool // only count creations, so that any new pod counts as an expected one
	CreationSeen    bool // seen creations stay expected
	FirstSeenDying  bool // creations that are first seen while terminating stay expected
	FailedCreation  bool // failed creations stay expected
	MissingDeletion bool // deletions of missing pods stay expected
	Successor       bool // apply the set's expectations to a recreated set with the same name
	Missing         bool // keep the expectations of a set that no longer exists
	DeleteErrors    bool // do not retry a refused deletion

	Consistency bool // reconcile before the caches show the set's own writes
	SharedCache bool // change cached pods in place
	Backoff     bool // retry a failed reconcile at once
	Growth      bool // retry a failed reconcile without increasing the backoff
	Unchanged   bool // write the status even if it has not changed
}

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
		// The gated era has a tie-break too: the checklist leaves "Use ControllerRef to map watch events to
		// controllers" open.
		t := &routing.TieBreak{Owner: kind.GVK, Selects: kind.Selects}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: kind.GVK, Selects: kind.Selects, Later: kind.availableLater,
		Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

// availableLater returns when to check whether a pod that became ready is available, or 0 if it did not become ready.
func (k *Traits) availableLater(owner, old, cur runtime.Object) time.Duration {
	if pod.Ready(old.(*corev1.Pod)) || !pod.Ready(cur.(*corev1.Pod)) {
		return 0
	}
	return time.Duration(k.Read(owner).MinReadySeconds) * time.Second
}

// reconciler is the controller with its memory: its expectations, and its writes that caches do not show yet (API-5).
type reconciler struct {
	kind     *Traits
	options  *Options
	env      *host.Env
	client   host.Client
	sets     cache.Indexer
	pods     cache.Indexer
	expected *expectations.Expectations
	written  *consistency.Store // nil if a reconcile does not wait for the controller's own writes
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

func (r *reconciler) Forget(key string) {
	r.expected.Forget(key)
	r.written.Clear(key, "")
}

func (r *reconciler) Waiting() []string { return r.expected.Waiting() }

func (r *reconciler) Digest(h *sim.Hash) {
	r.expected.Digest(h)
	r.written.Digest(h)
}

// Traits holds the differences between the two kinds of set.
type Traits struct {
	Name string // the controller's name, such as "replicaset"
	GVK  schema.GroupVersionKind

	Read       func(obj runtime.Object) Set
	WithStatus func(obj runtime.Object, s appsv1.ReplicaSetStatus) runtime.Object
	// Terminating means that in the current era the status counts terminating pods.
	Terminating bool
	// Consistent means that in the current era a reconcile waits until the cache shows its writes (RULES D45, D50).
	Consistent bool
}

// Set is a ReplicaSet or ReplicationController. It shares its parts with the object from which it was read.
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

// Select makes the set select pods with these labels. Without labels it selects nothing.
func (s *Set) Select(equal map[string]string) { s.equal = equal }

// SelectBy makes the set select by a label selector. A nil or empty selector selects nothing: no set should own every
// pod.
func (s *Set) SelectBy(selector *metav1.LabelSelector) {
	if selector == nil {
		return
	}
	s.equal = selector.MatchLabels
	if len(selector.MatchExpressions) > 0 {
		s.expressions = selector
	}
}

func (s *Set) Matches(have map[string]string) bool {
	if s.expressions != nil {
		selector := s.Selector()
		return selector != nil && selector.Matches(labels.Set(have))
	}
	return len(s.equal) > 0 && ref.Contains(have, s.equal)
}

// Selector returns the set's selector. It returns nil if the set selects nothing, or if the selector cannot be parsed.
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

// selectsNothing reports whether the set has no selector, or one that cannot be parsed.
func (s *Set) selectsNothing() bool {
	return len(s.equal) == 0 && s.expressions == nil || s.expressions != nil && s.Selector() == nil
}

func (k *Traits) Selects(owner runtime.Object, have map[string]string) bool {
	s := k.Read(owner)
	return s.Matches(have)
}

// wants returns the wanted number of pods, or -1 for a set that selects nothing. The controller ignores such a set.
func (s *Set) wants() int {
	if s.selectsNothing() {
		return -1
	}
	return s.Replicas
}

// Era decides which pods a set owns.
type Era string

const (
	// Selector is the era before ControllerRef. A set owns every active pod that its selector matches.
	Selector Era = "selector"
	// Gated is like ControllerRef, without the open items of the proposal's checklist. If Options.GarbageCollector is
	// not set, this era is like Selector.
	Gated Era = "gated"
	// ControllerRef is the full proposal.
	ControllerRef Era = "controllerref"
	// Current is Kubernetes 1.36. A reconcile of a ReplicaSet waits until caches show earlier writes (RULES D45, D50).
	// Creations come in growing batches (RULES E58). Deletions consider cost, neighbours and age (RULES E57). The
	// status counts terminating pods, and pods are checked again when they become available.
	Current Era = "current"
)

// owned reports whether only the ControllerRef decides which pods a set owns.
func (g Era) owned() bool { return g == ControllerRef || g == Current }
