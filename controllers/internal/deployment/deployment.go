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

// The kinds it reads. It writes Deployments and ReplicaSets; Pods are their
// ReplicaSets' business (KIND-DEPLOY).
var (
	Kind    = appsv1.SchemeGroupVersion.WithKind("Deployment")
	SetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
)

// Era is a way of deciding which ReplicaSets are a Deployment's own.
type Era string

// The eras.
const (
	// Selector: every ReplicaSet that the selector matches (before ControllerRef).
	Selector Era = "selector"
	// Gated: ControllerRef, with the gaps that the proposal's checklist leaves open:
	// events are routed by tie-break, and what is adopted is adopted on the word of the
	// cache.
	Gated Era = "gated"
	// ControllerRef: the proposal in full.
	ControllerRef Era = "controllerref"
	// Current: what Kubernetes 1.36 added: a name that is taken is counted and another
	// one found, and pods that are being deleted are told.
	Current Era = "current"
)

// Options choose a controller.
type Options struct {
	Era     Era
	Without Without
}

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	Ref     ref.Without
	Routing routing.Without

	OwnStatus   bool // every matching ReplicaSet counts in the status, whoever owns it
	ClaimFirst  bool // what is its own is read before orphans are adopted, and they do not count
	TakeOwned   bool // ReplicaSets are made without a reference to the Deployment
	Terminating bool // a Deployment that is being deleted goes on as if it were not
	Untouched   bool // ... writes the annotations of its ReplicaSets, as upstream's does

	NameOfTemplate bool // the name of a ReplicaSet does not follow from the template
	Taken          bool // a ReplicaSet that has the name already is taken for the one that was to be made
	Collisions     bool // names that are taken are not counted
	SameTemplate   bool // the current ReplicaSet is the one that has the hash, not the one that has the template

	Room  bool // the current ReplicaSet is asked for all pods at once
	Least bool // old pods are given up however few are available
	Empty bool // with strategy Recreate the new pods are asked for while old ones run

	Idle      bool // old ReplicaSets whose pods are not ready count as ones without
	VictimUID bool // old ReplicaSets are deleted by name, whatever has it by now
	Unchanged bool // a status that is right already is written again
	Pods      bool // pods of old ReplicaSets are deleted by the Deployment itself
}

// selector is what a Deployment selects; nil for one that selects nothing, or that an
// earlier version of the server stored and nobody can read.
func selector(d *appsv1.Deployment) labels.Selector {
	s, _ := readSelector(d)
	return s
}

// readSelector is what a Deployment selects; nil for nothing. None, and an empty one,
// select nothing: no Deployment that owns every ReplicaSet was ever meant.
func readSelector(d *appsv1.Deployment) (labels.Selector, error) {
	s, err := ref.Parse(d.Spec.Selector)
	if err != nil || d.Spec.Selector == nil || s.Empty() {
		return nil, err
	}
	return s, nil
}

// reconciler is the controller; it remembers nothing (API-5).
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
