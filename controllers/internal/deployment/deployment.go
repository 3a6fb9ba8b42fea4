// Package deployment is the Deployment controller. It creates, adopts or finds the ReplicaSet of a Deployment's
// template. It scales this ReplicaSet up, and the ReplicaSets of earlier templates down. It claims and releases
// ReplicaSets by ControllerRef. It never claims Pods, because they belong to ReplicaSets (KIND-DEPLOY).
//
// Start with sync.go, which is one reconcile. revision.go finds or creates the current ReplicaSet. rollout.go has the
// two strategies, rollbacks, and the deletion of old revisions. scale.go handles a changed size. progress.go writes the
// conditions.
//
// The controller follows upstream. Comments name the exceptions.
package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/invariant"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/controllers/internal/template"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// The kinds that the controller reads. It writes only Deployments and ReplicaSets.
var (
	Kind    = appsv1.SchemeGroupVersion.WithKind("Deployment")
	SetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
)

// Era decides which ReplicaSets a Deployment owns.
type Era string

const (
	// Selector is the era before ControllerRef. A Deployment owns every ReplicaSet that its selector matches.
	Selector Era = "selector"
	// Gated is like ControllerRef, without two items that the proposal's checklist leaves open. A tie-break routes the
	// events, and adoption does not read the Deployment from the server.
	Gated Era = "gated"
	// ControllerRef is the full proposal.
	ControllerRef Era = "controllerref"
	// Current is Kubernetes 1.36. It uses another name after a name collision, and it reports terminating pods.
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

	OwnStatus   bool // count every matching ReplicaSet in the status
	ClaimFirst  bool // read owned ReplicaSets before adopting orphans, so that adopted ones are not counted
	TakeOwned   bool // create ReplicaSets without a reference to the Deployment
	Terminating bool // reconcile a terminating Deployment as usual
	Untouched   bool // write the ReplicaSets of a terminating Deployment, as upstream does

	NameOfTemplate bool // let the server generate the ReplicaSet's name
	Taken          bool // use any ReplicaSet with the wanted name, whatever its owner and template
	Collisions     bool // do not count name collisions
	SameTemplate   bool // find the current ReplicaSet by hash, not by template

	Room  bool // scale the current ReplicaSet to full size at once
	Least bool // remove old pods even if too few are available
	Empty bool // with strategy Recreate, create new pods while old ones run

	Idle      bool // treat old ReplicaSets without ready pods as empty
	VictimUID bool // delete old ReplicaSets by name, even if the name now belongs to a recreated ReplicaSet
	Unchanged bool // write the status even if it has not changed
	Pods      bool // delete pods of old ReplicaSets directly
}

// selector returns a Deployment's selector, or nil if the selector selects nothing or cannot be parsed.
func selector(d runtime.Object) labels.Selector {
	s, _ := ref.ParseSome(d.(*appsv1.Deployment).Spec.Selector)
	return s
}

// reconciler is the controller. It keeps no state between reconciles (API-5).
type reconciler struct {
	options     *Options
	env         *host.Env
	deployments cache.Indexer
	sets        cache.Indexer
	pods        cache.Indexer
}

const (
	controllerIndex = "threelaws/controller" // objects by the uid of their controller
	orphanIndex     = "threelaws/orphans"    // objects without a controller, by namespace
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

func New(o Options) host.Controller {
	return host.Controller{
		Name:   "deployment",
		Era:    string(o.Era),
		For:    Kind,
		Owns:   []schema.GroupVersionKind{SetKind},
		New:    func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes: routes(&o),
		Contract: law.Contract{
			Selector:   selector,
			Ignores:    func(owner runtime.Object) bool { return selector(owner) == nil },
			Identity:   identity,
			Counts:     counts(),
			Invariants: []*law.Invariant{invariant.Bounds(exceedsBounds)},
			Profile:    law.Upstream,
		},
	}
}

// identity describes a ReplicaSet by the hash of its template. A Deployment creates only one ReplicaSet for each
// template (EXACT-3). The Contract declares no number of ReplicaSets, because a rollout decides how many have pods.
func identity(dependent runtime.Object) string {
	rs := dependent.(*appsv1.ReplicaSet)
	t := rs.Spec.Template
	t.Labels = template.Plain(t.Labels)
	return "the ReplicaSet of template " + template.Hash(&t, nil)
}

// counts declares how the status is counted: each number is the sum of the ReplicaSets' numbers (EXACT-8).
func counts() []law.Count {
	number := func(name string, of func(s *appsv1.DeploymentStatus) int32,
		each func(s *appsv1.ReplicaSetStatus) int32) law.Count {
		return law.Count{
			Name: name,
			Of:   func(owner runtime.Object) int { return int(of(&owner.(*appsv1.Deployment).Status)) },
			Each: func(_, dependent runtime.Object) int {
				return int(each(&dependent.(*appsv1.ReplicaSet).Status))
			},
		}
	}
	return []law.Count{
		number("replicas", func(s *appsv1.DeploymentStatus) int32 { return s.Replicas },
			func(s *appsv1.ReplicaSetStatus) int32 { return s.Replicas }),
		number("readyReplicas", func(s *appsv1.DeploymentStatus) int32 { return s.ReadyReplicas },
			func(s *appsv1.ReplicaSetStatus) int32 { return s.ReadyReplicas }),
		number("availableReplicas", func(s *appsv1.DeploymentStatus) int32 { return s.AvailableReplicas },
			func(s *appsv1.ReplicaSetStatus) int32 { return s.AvailableReplicas }),
	}
}

func routes(o *Options) []host.Route {
	sets := (&routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}).Route(SetKind)
	if o.Era == Selector || o.Era == Gated {
		sets = host.Route{Kind: SetKind, Do: tieBreak}
	}
	return []host.Route{routing.Own(Kind, &o.Without.Routing), sets, {Kind: podKind, Do: podGone}}
}

// tieBreak enqueues one of the Deployments that select a ReplicaSet. It records nothing for expectations: the name of a
// ReplicaSet follows from the template, so the server refuses a second creation.
func tieBreak(v host.View, e host.Event, out *host.Effect) {
	(&routing.TieBreak{Owner: Kind, Selects: selects}).Do(v, e, out)
	out.Created, out.Deleted = out.Created[:0], out.Deleted[:0]
}

func selects(owner runtime.Object, have map[string]string) bool {
	return len(have) > 0 && ref.SelectsSome(owner.(*appsv1.Deployment).Spec.Selector, have)
}

// podGone enqueues a Deployment with strategy Recreate if its last pod is gone, because with this strategy new pods
// wait for the end of old pods. Other pod events do not matter, because a Deployment reads the status of its
// ReplicaSets (RULES B34).
//
// Upstream lists the ReplicaSets from the server here. The cache is enough: it contains the ReplicaSet of the deleted
// pod, and each new ReplicaSet causes an event of its own.
func podGone(v host.View, e host.Event, out *host.Effect) {
	if e.New != nil {
		return
	}
	d := deploymentOf(v, e.Old.(*corev1.Pod))
	if d == nil || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType || hasPods(v, d) {
		return
	}
	out.Keys = append(out.Keys, routing.Key(d))
}

func deploymentOf(v host.View, pod *corev1.Pod) *appsv1.Deployment {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	rs, _ := v.Get(SetKind, pod.Namespace, ref.Name).(*appsv1.ReplicaSet)
	if rs == nil || rs.UID != ref.UID {
		return nil
	}
	if ref = metav1.GetControllerOfNoCopy(rs); ref == nil {
		return nil
	}
	d, _ := v.Get(Kind, pod.Namespace, ref.Name).(*appsv1.Deployment)
	if d == nil || d.UID != ref.UID {
		return nil
	}
	return d
}

func hasPods(v host.View, d *appsv1.Deployment) bool {
	found := false
	v.Each(podKind, d.Namespace, func(obj runtime.Object) bool {
		owner := deploymentOf(v, obj.(*corev1.Pod))
		found = owner != nil && owner.UID == d.UID
		return !found
	})
	return found
}
