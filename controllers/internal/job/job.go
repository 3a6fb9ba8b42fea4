// Package job is the Job controller: it runs pods until enough of them have succeeded.
//
// Ended pods are deleted by others, so the existing pods do not show how many have ended. Each pod has a finalizer and
// goes only when the Job's status has counted it (track.go). First its uid is stored as uncounted, then its finalizer
// is removed, then the counter is raised. Whatever fails in between, each pod is counted exactly once (RULES I80 to
// I86).
//
// A reconcile reads the Job and its pods from the caches, and claims pods. It decides whether the Job has failed or
// succeeded, creates or deletes pods if it has not, and counts those that ended.
package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// New returns the controller.
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
		c.Contract.Invariants = []*law.Invariant{{ID: "EXACT-11", When: law.AtWrite, Check: func(f *law.Facts) string {
			return oversteps(f.Owner, f.Dependents, f.Before, f.After, f.Now, f.All)
		}}}
		c.Backoff = host.Backoff{First: time.Second, Longest: time.Minute}
	}
	if o.Era != Current {
		c.Routes = []host.Route{routing.Own(Kind, &o.Without.Routing), oldPodRoute(&o)}
		c.Contract.Finalizers, c.Contract.FinalizerReason = nil, nil
	}
	return c
}
