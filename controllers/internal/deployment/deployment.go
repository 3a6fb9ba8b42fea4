package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// Generation is a way of deciding which ReplicaSets are a Deployment's own.
type Generation string

// The generations.
const (
	// Current: as in Kubernetes 1.36.
	Current Generation = "current"
)

// Options choose a controller.
type Options struct {
	Generation Generation
	Without    Without
}

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	Ref     ref.Without
	Routing routing.Without
}

// New returns the controller in a generation.
func New(o Options) host.Controller {
	return host.Controller{
		Name:       "deployment",
		Generation: string(o.Generation),
		For:        Kind,
		Owns:       []schema.GroupVersionKind{SetKind},
		New:        func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes:     routes(&o),
		Selector:   func(owner runtime.Object) labels.Selector { return selector(owner.(*appsv1.Deployment)) },
		Profile:    host.Upstream,
	}
}

// selector is what a Deployment selects. None, and an empty one, select nothing: no
// Deployment that owns every ReplicaSet was ever meant.
func selector(d *appsv1.Deployment) labels.Selector {
	s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil || s.Empty() {
		return labels.Nothing()
	}
	return s
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
