package cronjob

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	cronJobKind = batchv1.SchemeGroupVersion.WithKind("CronJob")
	jobKind     = batchv1.SchemeGroupVersion.WithKind("Job")
)

// New returns the current controller.
func New(without Without) host.Controller {
	jobs := &routing.Dependents{Owner: cronJobKind, Without: &without.Routing,
		Selects: func(runtime.Object, map[string]string) bool { return false }}
	c := declared("current")
	c.Contract.Profile = law.Upstream
	c.Contract.Invariants = []*law.Invariant{{ID: "EXACT-11", When: law.AtWrite, Check: func(f *law.Facts) string {
		return oversteps(f.Owner, f.Dependents, f.Before, f.After, f.Now, f.All)
	}}}
	c.Contract.Counted = func(owner runtime.Object) int { return len(owner.(*batchv1.CronJob).Status.Active) }
	c.New = func(env *host.Env) host.Reconciler { return newReconciler(&without, env) }
	c.Routes = []host.Route{cronJobRoute(&without), jobs.Route(jobKind)}
	return c
}

// declared is what every era declares to the laws.
func declared(era string) host.Controller {
	return host.Controller{
		Name: "cronjob", Era: era,
		For: cronJobKind, Owns: []schema.GroupVersionKind{jobKind},
		Contract: law.Contract{
			Active:    func(job runtime.Object) bool { return running(job.(*batchv1.Job)) },
			Identity:  func(job runtime.Object) string { return scheduledAt(job.(*batchv1.Job)) },
			MaxActive: atOnce,
			Counts: []law.Count{{
				Name: "finished Jobs in active",
				Of:   func(runtime.Object) int { return 0 },
				Is: func(owner, job runtime.Object) bool {
					j := job.(*batchv1.Job)
					return finished(j) != "" && listed(owner.(*batchv1.CronJob), j.UID)
				},
			}},
		},
	}
}

// running reports whether the schedule started a Job and it has not finished. A Job that a user creates from the
// template does not count.
func running(job *batchv1.Job) bool { return scheduledAt(job) != "" && finished(job) == "" }

// scheduledAt returns the time for which a Job was started, or "".
func scheduledAt(job *batchv1.Job) string {
	return job.Annotations[batchv1.CronJobScheduledTimestampAnnotation]
}

// atOnce returns how many Jobs a CronJob may run at a time; negative for any number.
func atOnce(owner runtime.Object) int {
	cj := owner.(*batchv1.CronJob)
	switch {
	case suspended(cj):
		return 0
	case cj.Spec.ConcurrencyPolicy == batchv1.AllowConcurrent, cj.Spec.ConcurrencyPolicy == "":
		return -1
	}
	return 1
}

func suspended(cj *batchv1.CronJob) bool { return cj.Spec.Suspend != nil && *cj.Spec.Suspend }

// finished returns the condition of an ended Job; "" while it runs.
func finished(job *batchv1.Job) batchv1.JobConditionType {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// listed reports whether a CronJob's status lists a Job as active.
func listed(cj *batchv1.CronJob, uid types.UID) bool {
	return slices.ContainsFunc(cj.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

// unlist removes a Job from the active list.
func unlist(cj *batchv1.CronJob, uid types.UID) {
	cj.Status.Active = slices.DeleteFunc(slices.Clone(cj.Status.Active), func(r corev1.ObjectReference) bool {
		return r.UID == uid
	})
}

// reconciler has no memory.
type reconciler struct {
	env      *host.Env
	without  *Without
	cronJobs cache.Indexer
	jobs     cache.Indexer
}

func newReconciler(without *Without, env *host.Env) *reconciler {
	return &reconciler{env: env, without: without,
		cronJobs: env.Informer(cronJobKind).GetIndexer(), jobs: env.Informer(jobKind).GetIndexer()}
}

func (r *reconciler) Digest(*sim.Hash) {}

// Sync reconciles one CronJob: it tracks its Jobs and starts one that is due. For a rescheduled key it only sets the
// next time.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	if cj, ok := rescheduled(key); ok {
		r.await(cj)
		return nil
	}
	obj, exists, err := r.cronJobs.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	s := &round{reconciler: r, ctx: ctx, cj: obj.(*batchv1.CronJob).DeepCopy(), now: r.env.Now()}
	s.jobs = r.children(s.cj)
	next, err := s.reconcile()
	if s.changed {
		if _, failed := r.env.Client.UpdateStatus(ctx, s.cj); failed != nil {
			return failed
		}
	}
	if next != nil {
		r.env.Queue.AddAfter(key, *next)
	}
	return err
}

// children returns the CronJob's own Jobs in the cache. Upstream uses only the owner's name, so it includes Jobs of an
// earlier CronJob of that name, or of another kind of controller (RULES J88, kubernetes#120181).
func (r *reconciler) children(cj *batchv1.CronJob) (own []*batchv1.Job) {
	objs, err := r.jobs.ByIndex(cache.NamespaceIndex, cj.Namespace)
	if err != nil {
		panic("cronjob: " + err.Error())
	}
	template := labels.SelectorFromSet(cj.Spec.JobTemplate.Labels)
	for _, obj := range objs {
		job := obj.(*batchv1.Job)
		switch ref := metav1.GetControllerOfNoCopy(job); {
		case r.without.ByReference && !template.Matches(labels.Set(job.Labels)), ref == nil:
		case ref.UID == cj.UID, r.without.ChildUID && ref.Name == cj.Name:
			own = append(own, job)
		}
	}
	return own
}

// round is one sync of one CronJob.
type round struct {
	*reconciler
	ctx     context.Context
	cj      *batchv1.CronJob // a copy with the updated status
	jobs    []*batchv1.Job   // its own, as cached
	now     time.Time
	changed bool // the status must be written
	polls   bool // for a polling era
}
