// Package daemonset is the DaemonSet controller. It runs one pod of a template on each eligible node, and replaces the
// pods node by node when the template changes. The set also owns ControllerRevisions, which hold earlier templates.
//
// A reconcile reads the set, the nodes, the revisions and the pods from the caches. It claims revisions and pods. It
// creates missing pods and deletes surplus pods. If it expects no more events about its own writes, it replaces
// outdated pods. At the end it writes the status.
//
// The route of node events finds the affected sets. Upstream has a queue of nodes, which enqueues the same sets later.
package daemonset

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/invariant"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var Kind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

var nodeKind = corev1.SchemeGroupVersion.WithKind("Node")

// Era decides which pods a set owns.
type Era string

const (
	// Selector is the era before ControllerRef. A set owns every pod that its selector matches.
	Selector Era = "selector"
	// Gated is like Selector, but a terminating set leaves its pods alone, as the proposal's checklist says.
	Gated Era = "gated"
	// ControllerRef is the full proposal of 2017. The controller itself assigns pods to nodes. A number in a label of
	// the pod identifies its template.
	ControllerRef Era = "controllerref"
	// Current is Kubernetes 1.36. It has revisions, lets the scheduler place pods by node affinity, and checks the
	// caches before each reconcile.
	Current Era = "current"
)

type Options struct {
	Era     Era
	Without Without
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Ref       ref.Without
	Revisions ref.Without // for claiming revisions
	Routing   routing.Without

	Terminating bool // reconcile a terminating set as usual
	Consistent  bool // reconcile before the cache shows the set's last write
	Wait        bool // create and delete pods despite pending expectations
	Recheck     bool // do not compare expected deletions with the cache

	OwnCount  bool // treat every matching pod as the set's own
	OwnStatus bool // count every matching pod in the status
	Target    bool // ignore the node in the affinity of an unbound pod
	Lost      bool // keep unbound pods whose node is gone
	Surplus   bool // keep surplus pods of a node
	Eligible  bool // give every node a pod, whatever its taints and labels
	Evict     bool // keep pods on nodes that are no longer eligible
	Ended     bool // keep pods that have failed or succeeded
	Patience  bool // replace a repeatedly failing pod without backoff
	AllNodes  bool // compute percentages from the number of all nodes, even ineligible ones
	Missing   bool // replace available pods even if too many pods are unavailable
	Crowded   bool // during an update, ignore maxSurge
	TakeOwned bool // create pods without a reference to the set
	VictimUID bool // delete pods by name, even if the name now belongs to a recreated pod
	Dying     bool // treat a node with an ended, terminating pod as occupied

	Relabel     bool // delete duplicates of the current revision without relabelling their pods
	RelabelUID  bool // relabel by name, even if the name now belongs to a recreated pod
	Collision   bool // use any revision with the wanted name, whatever its content
	InUse       bool // clean up revisions that pods use
	RevisionUID bool // delete revisions by name

	SharedCache bool // change cached sets in place
	Unchanged   bool // write the status even if it has not changed
}

func New(o Options) host.Controller {
	c := host.Controller{
		Name:   "daemonset",
		Era:    string(o.Era),
		For:    Kind,
		Owns:   []schema.GroupVersionKind{pod.Kind},
		New:    func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes: []host.Route{routing.Own(Kind, &o.Without.Routing), podRoute(&o), nodeRoute(&o)},
		Contract: law.Contract{
			Selector:       selector,
			Ignores:        func(owner runtime.Object) bool { return selector(owner) == nil },
			Identity:       identity,
			Profile:        law.Upstream,
			Active:         active,
			AllowDuplicate: mayDuplicate,
		},
	}
	if o.Era == ControllerRef || o.Era == Current {
		c.Contract.Invariants = []*law.Invariant{{ID: "one-on-each-node", When: law.WhenSettled, Check: onEachNode,
			Sentence: "Once settled, a DaemonSet has one active pod of its own on each eligible node, and none elsewhere."}}
	}
	if o.Era == Current {
		c.Owns = append(c.Owns, history.Kind)
		c.Routes = append(c.Routes, revisionRoute(&o))
		c.Contract.RetryOf = retries
		c.Contract.Invariants = append(c.Contract.Invariants,
			invariant.NeededObjects(lacks), invariant.Bounds(exceedsBounds))
	}
	return c
}

// selector returns a set's selector, or nil if the selector selects nothing or cannot be parsed.
func selector(set runtime.Object) labels.Selector {
	s, _ := ref.ParseSome(set.(*appsv1.DaemonSet).Spec.Selector)
	return s
}

func selects(owner runtime.Object, have map[string]string) bool {
	return ref.SelectsSome(owner.(*appsv1.DaemonSet).Spec.Selector, have)
}

// availableLater returns when to check whether a pod that became ready is available. This is after minReadySeconds,
// plus one second because clocks differ. It returns 0 if the pod did not become ready.
func availableLater(owner, old, cur runtime.Object) time.Duration {
	least := owner.(*appsv1.DaemonSet).Spec.MinReadySeconds
	if least > 0 && !pod.Ready(old.(*corev1.Pod)) && pod.Ready(cur.(*corev1.Pod)) {
		return time.Duration(least)*time.Second + time.Second
	}
	return 0
}

func podRoute(o *Options) host.Route {
	if o.Era == Selector || o.Era == Gated {
		t := &routing.TieBreak{Owner: Kind, Selects: selects}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: Kind, Selects: selects, Later: availableLater, Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

// revisionRoute routes events of revisions like those of pods, but without expectations. A revision's name follows from
// its content, so the server refuses a second creation.
func revisionRoute(o *Options) host.Route {
	d := &routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}
	return host.Route{Kind: history.Kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		effect := *out
		d.Do(v, e, &effect)
		out.Keys = effect.Keys
	}}
}

// nodeRoute enqueues the sets that a new or changed node affects. Such a set lacks a pod on the node, has a pod that
// may not stay, or may have a wrong status. Only bound pods are considered. The deletion of a node enqueues nothing.
func nodeRoute(o *Options) host.Route {
	return host.Route{Kind: nodeKind, Do: func(v host.View, e host.Event, out *host.Effect) {
		node, _ := e.New.(*corev1.Node)
		if old, _ := e.Old.(*corev1.Node); node == nil || old != nil && alike(old, node) {
			return
		}
		v.Each(Kind, "", func(obj runtime.Object) bool {
			set := obj.(*appsv1.DaemonSet)
			run, stay := fits(set, node, o)
			bound := boundTo(v, set, node.Name, o)
			if run && !bound || !stay && bound || bound && set.Status.NumberMisscheduled > 0 {
				out.Keys = append(out.Keys, routing.Key(set))
			}
			return true
		})
	}}
}

// alike reports whether two versions of a node have the same labels and taints.
func alike(a, b *corev1.Node) bool {
	same := func(x, y corev1.Taint) bool {
		return x.Key == y.Key && x.Value == y.Value && x.Effect == y.Effect && x.TimeAdded.Equal(y.TimeAdded)
	}
	return maps.Equal(a.Labels, b.Labels) && slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, same)
}

// boundTo reports whether a pod of a set is bound to a node. It finds the set's pods by the name in their
// ControllerRef, or in earlier eras by the selector.
func boundTo(v host.View, set *appsv1.DaemonSet, node string, o *Options) bool {
	found := false
	v.Each(pod.Kind, set.Namespace, func(obj runtime.Object) bool {
		p := obj.(*corev1.Pod)
		if p.Spec.NodeName != node {
			return true
		}
		if o.Era == Selector || o.Era == Gated {
			found = selects(set, p.Labels)
		} else {
			ref := metav1.GetControllerOfNoCopy(p)
			found = ref != nil && ref.Kind == Kind.Kind && ref.Name == set.Name
		}
		return !found
	})
	return found
}
