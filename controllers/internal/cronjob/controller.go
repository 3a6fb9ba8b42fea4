// Package cronjob is the CronJob controller in three eras (see package controllers). The two earlier eras poll the
// server.
//
// A CronJob adopts and releases nothing (RULES J87). It owns the Jobs whose ControllerRef names it. Its status lists
// the Jobs that it started and that still run. A Job's name has its scheduled time, so no Job is started twice
// (EXACT-3).
package cronjob

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/invariant"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	cronJobKind = batchv1.SchemeGroupVersion.WithKind("CronJob")
	jobKind     = batchv1.SchemeGroupVersion.WithKind("Job")
)

// New returns the controller of Kubernetes 1.36.
func New(without Without) host.Controller {
	jobs := &routing.Dependents{Owner: cronJobKind, Without: &without.Routing,
		Selects: func(runtime.Object, map[string]string) bool { return false }}
	c := declared("current")
	c.Contract.Profile = law.Upstream
	c.Contract.Invariants = []*law.Invariant{invariant.Bounds(exceedsBounds)}
	c.Contract.Counted = func(owner runtime.Object) int { return len(owner.(*batchv1.CronJob).Status.Active) }
	c.New = func(env *host.Env) host.Reconciler { return newReconciler(&without, env) }
	c.Routes = []host.Route{cronJobRoute(&without), jobs.Route(jobKind)}
	return c
}

// declared returns what the controllers of all eras have in common: the names, the kinds, and most of the Contract.
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

// running reports whether a Job was started by the schedule and has not finished. A Job that a user created from the
// template has no scheduled time, so it does not count.
func running(job *batchv1.Job) bool { return scheduledAt(job) != "" && finished(job) == "" }

func scheduledAt(job *batchv1.Job) string {
	return job.Annotations[batchv1.CronJobScheduledTimestampAnnotation]
}

// atOnce returns the maximum number of concurrent Jobs of a CronJob. A negative number means no limit.
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

// finished returns the type of the condition with which a Job ended, or "" if it has not ended.
func finished(job *batchv1.Job) batchv1.JobConditionType {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

func listed(cj *batchv1.CronJob, uid types.UID) bool {
	return slices.ContainsFunc(cj.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

func unlist(cj *batchv1.CronJob, uid types.UID) {
	cj.Status.Active = slices.DeleteFunc(slices.Clone(cj.Status.Active), func(r corev1.ObjectReference) bool {
		return r.UID == uid
	})
}

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

// Sync reconciles one CronJob: it updates the status from the CronJob's Jobs, and starts a Job that is due. If the key
// contains rescheduleMark, Sync only requeues the CronJob for its next scheduled time.
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

// children returns the CronJob's own Jobs in the cache. Upstream compares only the owner's name. So upstream includes
// Jobs of an earlier CronJob with that name, or of another kind of controller (RULES J88, kubernetes#120181).
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

type round struct {
	*reconciler
	ctx     context.Context
	cj      *batchv1.CronJob // a copy of the CronJob, with the status to write
	jobs    []*batchv1.Job   // the CronJob's own Jobs in the cache
	now     time.Time
	changed bool // the status must be written
	polls   bool // the controller is one of a polling era
}

// Without configures a mutant (package mutants). Each field disables one check. The polling eras set some
// (poller.Sync).
type Without struct {
	Routing routing.Without

	TakeOwned   bool // start Jobs without a reference to their CronJob
	ChildUID    bool // own the Jobs of any controller with the CronJob's name (RULES J88)
	ByReference bool // own a Job only if it also has the template's labels
	Name        bool // use server-generated names for Jobs
	AnyOwner    bool // accept any Job with the scheduled Job's name as the CronJob's own
	Victim      bool // with the policy Replace, delete a running Job even if another owner controls it now
	Newest      bool // clean up the newest ended Jobs instead of the oldest
	Itself      bool // with the policy Replace, delete also the Job that is due, if the status does not list it yet
	Unread      bool // with the policy Replace, delete an unlisted Job without reading it from the server
	VictimUID   bool // delete Jobs by name, even if the name now belongs to a recreated Job
	LiveChild   bool // treat a Job missing from the cache as gone
	LiveUID     bool // treat a recreated Job as the Job that the status lists
	Missing     bool // keep missing Jobs in the active list
	Forgotten   bool // do not wait for a running Job that is not in the active list
	Running     bool // do not wait for a running Job that is in the active list
	Suspended   bool // start Jobs while the CronJob is suspended
	Terminating bool // start Jobs while the CronJob is terminating
	History     bool // clean up finished Jobs while the CronJob is terminating (RULES J91)
}

// exceedsBounds is the check of the invariant stay-within-bounds. It checks deletions of Jobs. An ended Job that the
// history limit keeps must stay (see forgets). The running Job of the last scheduled time must stay until the next
// scheduled time, when a new Job may replace it. The Job's name contains its scheduled time, and cannot change.
func exceedsBounds(f *law.Facts) string {
	if f.After != nil {
		return ""
	}
	cj, job := f.Owner.(*batchv1.CronJob), f.Before.(*batchv1.Job)
	if how := finished(job); how != "" {
		return forgets(cj, job, how, f.Dependents)
	}
	if !running(job) {
		return ""
	}
	digits, named := strings.CutPrefix(job.Name, cj.Name+"-")
	minutes, err := strconv.ParseInt(digits, 10, 64)
	times, unreadable := schedule(cj)
	if !named || err != nil || unreadable != nil {
		return ""
	}
	at := time.Unix(minutes*60, 0).UTC()
	scheduled := times.Next(at.Add(-time.Second)).Equal(at) // if false, another client created the Job
	if scheduled && !at.After(f.Now) && times.Next(at).After(f.Now) {
		return "deleted before the next is due"
	}
	return ""
}

// forgets returns a description if an ended Job was deleted although the history limit keeps it. A limit keeps the Jobs
// that started last. Completed and failed Jobs have separate limits.
func forgets(cj *batchv1.CronJob, job *batchv1.Job, how batchv1.JobConditionType, others []runtime.Object) string {
	limit, newer := cj.Spec.SuccessfulJobsHistoryLimit, 0
	if how == batchv1.JobFailed {
		limit = cj.Spec.FailedJobsHistoryLimit
	}
	for _, obj := range others {
		if j := obj.(*batchv1.Job); finished(j) == how && byStart(j, job) > 0 {
			newer++
		}
	}
	if limit == nil || newer < int(*limit) {
		return "deleted though it is among the last that are kept"
	}
	return ""
}
