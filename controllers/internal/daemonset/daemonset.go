// Package daemonset is the DaemonSet controller: one pod on each node that is
// eligible, all made from one template, and replaced node by node when the template
// changes. What it was before are ControllerRevisions, which it owns like its pods.
//
// A sync reads the set, the nodes, the revisions and the pods from the caches. It
// claims revisions and pods, says of each node what it lacks or has too much,
// creates and deletes that, replaces outdated pods if nothing else is under way, and
// writes the status.
//
// An event on a node is compared with the sets at once, not in a queue of its own:
// upstream's way, which wakes the same sets a little later.
package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Kind is the kind of the sets.
var Kind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

var nodeKind = corev1.SchemeGroupVersion.WithKind("Node")

// Era is a way of deciding which pods are a set's own.
type Era string

// The eras.
const (
	// Selector: every pod that the selector matches (before ControllerRef).
	Selector Era = "selector"
	// Gated: the same, but a set that is being deleted leaves its pods alone. That is
	// the one item of the proposal's checklist that DaemonSet had.
	Gated Era = "gated"
	// ControllerRef: the proposal in full, as of 2017: pods are put on their nodes by
	// the controller itself, and what is outdated tells a number in a label.
	ControllerRef Era = "controllerref"
	// Current: what Kubernetes 1.36 does: revisions, pods that a scheduler puts on the
	// node that their affinity names, and a look at the caches before each sync.
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
	Ref       ref.Without
	Revisions ref.Without // of the claims of revisions
	Routing   routing.Without

	Terminating bool // a set that is being deleted goes on as before
	Consistent  bool // a sync begins though a cache is older than what the set wrote
	Wait        bool // a sync creates and deletes whatever is still expected
	Recheck     bool // expected deletions are not compared with the cache

	OwnCount  bool // every matching pod counts as the set's own, whoever owns it
	OwnStatus bool // ... in the status only
	Target    bool // a pod that is on no node yet is not counted for the one it is made for
	Lost      bool // pods that wait for a node that is gone are left
	Surplus   bool // of several pods on a node all stay
	Eligible  bool // every node gets a pod, whatever its taints and labels
	Evict     bool // pods stay on nodes that are not eligible any more
	Ended     bool // pods that have failed or succeeded stay
	Patience  bool // a pod that fails again and again is deleted and made again at once
	AllNodes  bool // percentages are of all nodes, and not of those that are to have a pod
	Missing   bool // an update goes on though as many pods are unavailable as may be
	Crowded   bool // an update puts pods beside all old ones at once
	TakeOwned bool // pods are created without a reference to the set
	VictimUID bool // pods are deleted by name, whatever pod has it by now
	Dying     bool // pods that have ended and are being deleted hold their node

	Relabel     bool // the pods of a duplicate of the current revision are not told
	RelabelUID  bool // ... are told by name
	Collision   bool // a revision whose name is taken is taken for the one that was to have it
	InUse       bool // revisions that pods are of are cleaned up
	RevisionUID bool // revisions are deleted by name

	SharedCache bool // cached sets are changed in place
	Unchanged   bool // a status that is right already is written again
}

// New returns the controller in an era.
func New(o Options) host.Controller {
	c := host.Controller{
		Name:   "daemonset",
		Era:    string(o.Era),
		For:    Kind,
		Owns:   []schema.GroupVersionKind{pod.Kind},
		New:    func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes: []host.Route{routing.Own(Kind, &o.Without.Routing), podRoute(&o), nodeRoute(&o)},
		Contract: law.Contract{
			Selector:       func(owner runtime.Object) labels.Selector { return selector(owner.(*appsv1.DaemonSet)) },
			Ignores:        func(owner runtime.Object) bool { return selector(owner.(*appsv1.DaemonSet)) == nil },
			Identity:       identity,
			Profile:        law.Upstream,
			Active:         active,
			AllowDuplicate: twins,
		},
	}
	if o.Era == ControllerRef || o.Era == Current {
		c.Contract.Invariants = []*law.Invariant{{ID: "KIND-DS", When: law.WhenSettled, Check: onEachNode}}
	}
	if o.Era == Current {
		c.Owns = append(c.Owns, history.Kind)
		c.Routes = append(c.Routes, revisionRoute(&o))
		c.Contract.RetryOf = retries
		c.Contract.Invariants = append(c.Contract.Invariants,
			&law.Invariant{ID: "EXACT-9", When: law.BeforeCreate, Check: func(f *law.Facts) string {
				return lacks(f.Owner, f.After, f.All)
			}},
			&law.Invariant{ID: "EXACT-11", When: law.AtWrite, Check: func(f *law.Facts) string {
				return oversteps(f.Owner, f.Dependents, f.Before, f.After, f.Now, f.All)
			}})
	}
	return c
}

// selector is what a set selects; nil for one that selects nothing, or that an earlier
// version of the server stored and nobody can read.
func selector(set *appsv1.DaemonSet) labels.Selector {
	s, _ := readSelector(set)
	return s
}

// readSelector is what a set selects; nil for nothing. One that would match all there
// is selects nothing: no set that owns every pod was ever meant (RULES G70).
func readSelector(set *appsv1.DaemonSet) (labels.Selector, error) {
	s, err := ref.Parse(set.Spec.Selector)
	if err != nil || set.Spec.Selector == nil || s.Empty() {
		return nil, err
	}
	return s, nil
}

func selects(owner runtime.Object, have map[string]string) bool {
	s := owner.(*appsv1.DaemonSet).Spec.Selector
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && ref.Selects(s, have)
}

// availableLater is how long after a pod became ready its set has to look whether
// it is available: a second more than that takes, as clocks differ.
func availableLater(owner, old, cur runtime.Object) time.Duration {
	least := owner.(*appsv1.DaemonSet).Spec.MinReadySeconds
	if least > 0 && !pod.Ready(old.(*corev1.Pod)) && pod.Ready(cur.(*corev1.Pod)) {
		return time.Duration(least)*time.Second + time.Second
	}
	return 0
}
