// Package job is the Job controller: it runs pods until enough of them have succeeded.
//
// Other clients delete ended pods, so the existing pods do not show how many have ended. Therefore a finalizer keeps
// each pod until the Job's status has counted it (track.go). First the pod's uid is stored as uncounted, then its
// finalizer is removed, then the counter is increased. If any step fails, each pod is still counted exactly once (RULES
// I80 to I86).
//
// A reconcile reads the Job and its pods from the caches, and claims pods. If the Job has neither failed nor succeeded,
// it creates or deletes pods. Then it counts the pods that have ended.
package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/invariant"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

func New(o Options) host.Controller {
	c := host.Controller{
		Name:   "job",
		Era:    string(o.Era),
		For:    Kind,
		Owns:   []schema.GroupVersionKind{pod.Kind},
		New:    func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes: []host.Route{jobRoute(&o), podRoute(&o)},
		Contract: law.Contract{
			Selector:       func(owner runtime.Object) labels.Selector { return selectorOf(owner.(*batchv1.Job)) },
			Replicas:       wants,
			MaxSurge:       surge,
			MaxUnavailable: func(owner runtime.Object) int { return max(wants(owner), 0) },
			Ignores: func(owner runtime.Object) bool {
				j := owner.(*batchv1.Job)
				return finished(j) || foreign(j) || selectorOf(j) == nil
			},
			Identity:        func(p runtime.Object) string { return p.(*corev1.Pod).Annotations[indexKey] },
			Counted:         func(owner runtime.Object) int { return int(owner.(*batchv1.Job).Status.Active) },
			Counts:          counts,
			Active:          func(p runtime.Object) bool { return !pod.Ended(p.(*corev1.Pod)) },
			Finalizers:      []string{tracking},
			FinalizerReason: keeps,
			Profile:         law.Upstream,
		},
	}
	if o.Era == Current {
		c.Contract.Counts = slices.Concat(counts, onces)
		c.Contract.Invariants = []*law.Invariant{invariant.Bounds(exceedsBounds)}
		c.Backoff = host.Backoff{First: time.Second, Longest: time.Minute}
	}
	if o.Era != Current {
		c.Routes = []host.Route{routing.Own(Kind, &o.Without.Routing), oldPodRoute(&o)}
		c.Contract.Finalizers, c.Contract.FinalizerReason = nil, nil
	}
	return c
}

var Kind = batchv1.SchemeGroupVersion.WithKind("Job")

// tracking is the finalizer that keeps a Job's pods until they are counted.
const tracking = batchv1.JobTrackingFinalizer

const (
	batch        = time.Second      // the delay of an event, so that one reconcile handles several events
	firstBackoff = 10 * time.Second // the delay before a failed pod is replaced; each further failure doubles it
	maxBackoff   = 10 * time.Minute
	burst        = 500 // the most pods that a reconcile creates, or deletes as surplus
	maxUncounted = 500 // the most uncounted pods in a status
)

// Era decides which pods a Job owns, and how it counts them.
type Era string

// The eras. Controllers before Current count the ended pods that still exist.
const (
	// Selector is the era before ControllerRef. Every matching pod is the Job's. An event goes to the oldest matching
	// Job.
	Selector Era = "selector"
	// Gated is like Selector, but a terminating Job leaves its pods alone, as the proposal's checklist says.
	Gated Era = "gated"
	// ControllerRef is the full proposal.
	ControllerRef Era = "controllerref"
	// Current is the controller of Kubernetes 1.36.
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

	TakeOwned   bool // create pods without a reference to the Job
	Tracking    bool // create pods without the finalizer
	AdoptBare   bool // adopt pods without adding the finalizer
	Shed        bool // never remove the finalizer
	HoldDeleted bool // keep the finalizer of the pods of a terminating Job
	Orphans     bool // keep the finalizer of pods that have lost their Job
	Thief       bool // remove the finalizer even if another controller controls the pod
	Adopted     bool // remove the finalizer of an orphan, even if a Job has adopted the pod since it was read
	OwnCount    bool // treat every matching pod as the Job's own
	Terminating bool // a terminating Job creates and deletes pods
	VictimUID   bool // write and delete pods by name, even if the name now belongs to a recreated pod
	Wait        bool // create pods despite pending expectations
	Lag         bool // reconcile before the caches show earlier writes
	Twice       bool // count a pod twice if the cache still shows its finalizer
	Indexes     bool // create pods for indexes that already have one
	Least       bool // delete one pod more than needed
	Surplus     bool // keep pods beyond the remaining completions
	Linger      bool // keep pods that run when the Job ends
	Late        bool // keep pods that were created after the Job had ended
	Early       bool // end the Job while it waits for expectations: the cache may lack pods that run
	Suspend     bool // a suspended Job runs on
	Managed     bool // reconcile a Job that spec.managedBy assigns to another controller
	Ready       bool // the status counts every active pod as ready
	CountHeld   bool // count pods that still have the finalizer
	SharedCache bool // change the cached Job in place
}

// jobRoute routes events on Jobs. A changed spec is handled at once, a changed status after a delay. If a Job is gone,
// or an ended Job is updated, jobRoute enqueues the matching pods that still have the finalizer (RULES I82).
func jobRoute(o *Options) host.Route {
	own := routing.Own(Kind, &o.Without.Routing)
	return host.Route{Kind: Kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		own.Do(v, e, out)
		old, _ := e.Old.(*batchv1.Job)
		cur, _ := e.New.(*batchv1.Job)
		same := old != nil && cur != nil && old.UID == cur.UID
		if same && old.Generation == cur.Generation {
			delay(out)
		}
		if old != nil && !same {
			freeSelected(v, old, out)
		}
		if cur != nil && old != nil && finished(cur) {
			freeSelected(v, cur, out)
		}
	}}
}

// podRoute routes events on pods after a delay, so that pods that end together are counted together.
func podRoute(o *Options) host.Route {
	d := &routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}
	return host.Route{Kind: pod.Kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		d.Do(v, e, out)
		delay(out)
		freeForsaken(v, e, out)
	}}
}

func oldPodRoute(o *Options) host.Route {
	if o.Era != ControllerRef {
		t := &routing.TieBreak{Owner: Kind, Selects: selects}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

func delay(out *host.Effect) {
	for _, key := range out.Keys {
		out.Delayed = append(out.Delayed, host.Delayed{Key: key, After: batch})
	}
	out.Keys = out.Keys[:0]
}

// freeForsaken enqueues a pod whose finalizer no Job will remove. This is a pod without a controller. It is also a
// terminating pod whose controller is gone, has another kind, or is an ended Job.
func freeForsaken(v host.View, e host.Event, out *host.Effect) {
	p, ok := e.New.(*corev1.Pod)
	if !ok || !tracked(p) {
		return
	}
	if old, ok := e.Old.(*corev1.Pod); ok && old.ResourceVersion == p.ResourceVersion {
		return
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner != nil {
		if p.DeletionTimestamp == nil {
			return
		}
		if owner.Kind == Kind.Kind {
			if j, ok := v.Get(Kind, p.Namespace, owner.Name).(*batchv1.Job); ok && j.UID == owner.UID && !finished(j) {
				return
			}
		}
	}
	out.Keys = append(out.Keys, orphanKey(p))
}

func freeSelected(v host.View, j *batchv1.Job, out *host.Effect) {
	v.Each(pod.Kind, j.Namespace, func(obj runtime.Object) bool {
		if p := obj.(*corev1.Pod); tracked(p) && selects(j, p.Labels) {
			out.Keys = append(out.Keys, orphanKey(p))
		}
		return true
	})
}
