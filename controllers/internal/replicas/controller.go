package replicas

import (
	"time"

	corev1 "k8s.io/api/core/v1"
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
