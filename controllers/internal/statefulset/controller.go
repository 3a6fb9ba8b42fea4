// Package statefulset is the StatefulSet controller. Its pods are not interchangeable: each has an ordinal, which
// determines its name, labels and claims. Therefore a set claims pods by name, and creates and deletes them in order.
// It needs no expectations. If the cache lacks a pod, the server refuses to create it again, because the name is taken
// (RULES C44).
//
// A reconcile reads the set, its pods, claims and revisions from the caches. It claims pods and adopts revisions, and
// finds or creates the revision of the current template. Then it takes the first step that is needed: create a missing
// pod, repair a pod, delete an unwanted pod, or replace an outdated pod. At the end it writes the status and deletes
// old revisions.
package statefulset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/consistency"
	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var Kind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

var claimKind = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

// Era decides which pods a set owns, and which features the controller has.
type Era string

const (
	// Selector is the era before ControllerRef. The set owns all pods whose names and labels match.
	Selector Era = "selector"
	// ControllerRef is the full proposal. It lacks later features: revisions, parallel sets and the deletion of claims.
	ControllerRef Era = "controllerref"
	// Current is Kubernetes 1.36.
	Current Era = "current"
)

type Options struct {
	Era     Era
	Without Without
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Ref     ref.Without
	Routing routing.Without
	History history.Without

	Member      bool // treat pods with any name as members
	Prefix      bool // in set web, treat web-a-0, a pod of set web-a, as a member
	Canonical   bool // treat a pod with another spelling of an ordinal (web-01) as a member
	Terminating bool // reconcile a terminating set as usual
	VictimUID   bool // delete pods by name, even if the name now belongs to a recreated pod
	SamePod     bool // after a conflict, update the pod even if it was recreated
	SameSet     bool // after a conflict, write the status even if the set was recreated
	Ended       bool // create an ended pod again before it is gone
	RollAlone   bool // in a rolling update, do not wait for the replacement of a deleted pod
	RollUnready bool // in a rolling update, wait only until the replacement exists, not until it is available
	Partition   bool // in a rolling update, ignore the partition
	Order       bool // do not wait for the pods with lower ordinals
	Drift       bool // store the set's resourceVersion in revisions too, so that none equals an earlier one

	ClaimLater  bool // set the owners of a claim when it is seen, not when it is created
	ClaimEvents bool // events on claims enqueue nothing
	GoingSeen   bool // set a pod as owner of its claims when it is terminating, not before its deletion
	StaleClaim  bool // create a pod although one of its claims is about to be deleted
	Recreated   bool // treat claims of an earlier set or pod with the same name as the set's own
	Strange     bool // add an owner to claims of other controllers
}

func New(o Options) host.Controller {
	c := host.Controller{
		Name:   "statefulset",
		Era:    string(o.Era),
		For:    Kind,
		New:    func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes: []host.Route{routing.Own(Kind, &o.Without.Routing), podRoute(&o)},
		Contract: law.Contract{
			Profile: law.Upstream,
		},
	}
	if o.Era == Current {
		c.Routes = append(c.Routes, claimRoute(&o))
	}
	declare(&c, o.Era)
	return c
}

func podRoute(o *Options) host.Route {
	selected := func(owner runtime.Object, labels map[string]string) bool {
		return selects(owner.(*appsv1.StatefulSet), labels)
	}
	if o.Era == Selector {
		t := &routing.TieBreak{Owner: Kind, Selects: selected}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: Kind, Selects: selected, Later: availableLater, Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

// claimRoute enqueues a set if a claim is deleted or loses an owner, and the claim's pod does not exist. The set may be
// waiting for this before it creates the pod (RULES F66). Upstream does not watch claims, and waits for another event.
func claimRoute(o *Options) host.Route {
	return host.Route{Kind: claimKind, Do: func(v host.View, e host.Event, out *host.Effect) {
		old, ok := e.Old.(*corev1.PersistentVolumeClaim)
		cur, is := e.New.(*corev1.PersistentVolumeClaim)
		if !ok || o.Without.ClaimEvents || is && len(cur.OwnerReferences) >= len(old.OwnerReferences) {
			return
		}
		v.Each(Kind, old.Namespace, func(obj runtime.Object) bool {
			set := obj.(*appsv1.StatefulSet)
			_, n := identity(old.Name)
			if claims(set, old.Name) && v.Get(pod.Kind, set.Namespace, nameOf(set, n)) == nil {
				out.Keys = append(out.Keys, routing.Key(set))
			}
			return true
		})
	}}
}

// availableLater returns when to check whether a pod that became ready is available, or 0 if it did not become ready.
func availableLater(owner, old, cur runtime.Object) time.Duration {
	if pod.Ready(old.(*corev1.Pod)) || !pod.Ready(cur.(*corev1.Pod)) {
		return 0
	}
	return time.Duration(owner.(*appsv1.StatefulSet).Spec.MinReadySeconds) * time.Second
}

// reconciler is the controller with its memory: writes that the cache does not show yet, and encoded templates.
type reconciler struct {
	options   *Options
	env       *host.Env
	sets      cache.Indexer
	pods      cache.Indexer
	claims    cache.Indexer
	revisions cache.Indexer
	written   *consistency.Store
	encoded   history.Memo
}

func newReconciler(o *Options, env *host.Env) *reconciler {
	own := *env // a copy, whose client records the controller's writes
	r := &reconciler{options: o, env: &own, encoded: history.Memo{}}
	if o.Era == Current {
		r.written = consistency.New(env.Behind)
		r.env.Client = r.written.Pods(env.Client)
	}
	for _, c := range []struct {
		kind  schema.GroupVersionKind
		cache *cache.Indexer
	}{{Kind, &r.sets}, {pod.Kind, &r.pods}, {claimKind, &r.claims}, {history.Kind, &r.revisions}} {
		*c.cache = env.Informer(c.kind).GetIndexer()
	}
	pod.Index(r.pods)
	history.Index(r.revisions)
	return r
}

// data returns the content of the revision that stores the set's current template.
func (r *reconciler) data(key string, set *appsv1.StatefulSet) []byte {
	if r.options.Without.Drift {
		template := set.Spec.Template
		template.Annotations = map[string]string{"drift": set.ResourceVersion}
		return history.Data(&template)
	}
	return r.encoded.Data(key, set, &set.Spec.Template)
}

func (r *reconciler) Forget(key string) {
	r.written.Clear(key, "")
	delete(r.encoded, key)
}

func (r *reconciler) Digest(h *sim.Hash) { r.written.Digest(h) }
