package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// The kinds it reads. It writes Deployments and ReplicaSets; Pods belong to ReplicaSets (KIND-DEPLOY).
var (
	Kind    = appsv1.SchemeGroupVersion.WithKind("Deployment")
	SetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
)

// Era decides which ReplicaSets a Deployment owns.
type Era string

// The eras.
const (
	// Selector: every ReplicaSet that the selector matches (before ControllerRef).
	Selector Era = "selector"
	// Gated: ControllerRef, with the gaps that the proposal's checklist leaves open: a tie-break routes events, and
	// adoption trusts the cache.
	Gated Era = "gated"
	// ControllerRef: the proposal in full.
	ControllerRef Era = "controllerref"
	// Current: Kubernetes 1.36. It counts name collisions and uses another name, and reports terminating pods.
	Current Era = "current"
)

// Options choose a controller.
type Options struct {
	Era     Era
	Without Without
}

// Without names guards to disable; see package mutants. The zero value keeps all. One place in the code checks each
// guard.
type Without struct {
	Ref     ref.Without
	Routing routing.Without

	OwnStatus   bool // every matching ReplicaSet counts in the status
	ClaimFirst  bool // read its own before adopting orphans, which do not count then
	TakeOwned   bool // create ReplicaSets without a reference to the Deployment
	Terminating bool // a terminating Deployment continues as before
	Untouched   bool // ... writes its ReplicaSets' annotations, as upstream does

	NameOfTemplate bool // the template does not determine the ReplicaSet's name
	Taken          bool // treat a ReplicaSet of the same name as the wanted one
	Collisions     bool // do not count name collisions
	SameTemplate   bool // the hash, not the template, finds the current ReplicaSet

	Room  bool // scale the current ReplicaSet to full size at once
	Least bool // remove old pods however few are available
	Empty bool // with strategy Recreate, create new pods while old ones run

	Idle      bool // old ReplicaSets whose pods are not ready count as empty
	VictimUID bool // delete old ReplicaSets by name, whichever has it now
	Unchanged bool // write a status that is already right
	Pods      bool // the Deployment itself deletes pods of old ReplicaSets
}

// selector returns a Deployment's selector; nil if it selects nothing, or an earlier version of the server stored it
// and it is unreadable.
func selector(d *appsv1.Deployment) labels.Selector {
	s, _ := readSelector(d)
	return s
}

// readSelector returns a Deployment's selector; nil if it selects nothing. A missing or empty one selects nothing: no
// Deployment is meant to own every ReplicaSet.
func readSelector(d *appsv1.Deployment) (labels.Selector, error) {
	s, err := ref.Parse(d.Spec.Selector)
	if err != nil || d.Spec.Selector == nil || s.Empty() {
		return nil, err
	}
	return s, nil
}

// reconciler is the controller; it has no memory (API-5).
type reconciler struct {
	options     *Options
	env         *host.Env
	deployments cache.Indexer
	sets        cache.Indexer
	pods        cache.Indexer
}

const (
	controllerIndex = "threelaws/controller" // objects by the uid of their controller
	orphanIndex     = "threelaws/orphans"    // objects without a controller by namespace
)

var byOwner = cache.Indexers{
	controllerIndex: func(obj any) ([]string, error) {
		if r := metav1.GetControllerOfNoCopy(obj.(metav1.Object)); r != nil {
			return []string{string(r.UID)}, nil
		}
		return nil, nil
	},
	orphanIndex: func(obj any) ([]string, error) {
		if o := obj.(metav1.Object); metav1.GetControllerOfNoCopy(o) == nil {
			return []string{o.GetNamespace()}, nil
		}
		return nil, nil
	},
}

func newReconciler(o *Options, env *host.Env) *reconciler {
	r := &reconciler{options: o, env: env}
	r.deployments = env.Informer(Kind).GetIndexer()
	r.sets = env.Informer(SetKind).GetIndexer()
	r.pods = env.Informer(podKind).GetIndexer()
	for _, indexer := range []cache.Indexer{r.sets, r.pods} {
		if indexer.GetIndexers()[controllerIndex] == nil {
			if err := indexer.AddIndexers(byOwner); err != nil {
				panic("deployment: the indexes were there and were not: " + err.Error())
			}
		}
	}
	return r
}

func index(from cache.Indexer, name, value string) []any {
	objs, err := from.ByIndex(name, value)
	if err != nil {
		panic("deployment: " + err.Error())
	}
	return objs
}
