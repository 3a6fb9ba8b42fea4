package cronjob

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// reconcile updates the status and starts a Job that is due. It returns the delay until the next check. nil means that
// only an event causes the next check.
func (s *round) reconcile() (*time.Duration, error) {
	if s.cj.DeletionTimestamp == nil || s.without.History {
		// Upstream also cleans up while the CronJob is terminating (RULES J91).
		s.cleanUp()
	}
	forgotten, err := s.observe()
	if err != nil {
		return nil, err
	}
	if err := s.dropMissing(); err != nil {
		return nil, err
	}
	if s.cj.DeletionTimestamp != nil && !s.without.Terminating { // observe may have replaced s.cj by a newer version
		return nil, nil // the propagation policy of the deletion decides about the Jobs (ADOPT-3)
	}
	return s.start(forgotten)
}

// observe removes finished Jobs from the status. It returns the number of running Jobs that the status lacks (0 in the
// polling eras). A Job may be missing if the controller was killed after starting it, or if a user edited the status.
func (s *round) observe() (forgotten int, err error) {
	for _, job := range s.jobs {
		switch known := listed(s.cj, job.UID); {
		case finished(job) != "":
			if known {
				unlist(s.cj, job.UID)
				s.changed = true
			}
			s.noteSuccess(job)
		case !known && !s.polls:
			known, err := s.lookAgain(job.UID)
			if err != nil {
				return 0, err
			}
			if known {
				return s.observe() // start again with the CronJob that was read
			}
			if scheduledAt(job) != "" && job.DeletionTimestamp == nil {
				forgotten++
			}
		}
	}
	return forgotten, nil
}

// lookAgain reads the CronJob from the server, because the cache may show a Job before the status that lists it (RULES
// J90). If the status lists the Job, the round continues with the CronJob that was read.
func (s *round) lookAgain(job types.UID) (bool, error) {
	obj, err := s.env.Client.Get(s.ctx, cronJobKind, s.cj.Namespace, s.cj.Name)
	if err != nil {
		return false, err
	}
	live := obj.(*batchv1.CronJob)
	if live.UID != s.cj.UID {
		return false, fmt.Errorf("CronJob %s/%s is another now: uid %s, was %s", live.Namespace, live.Name, live.UID,
			s.cj.UID)
	}
	if !listed(live, job) {
		return false, nil
	}
	s.cj = live.DeepCopy()
	return true, nil
}

func (s *round) noteSuccess(job *batchv1.Job) {
	done, last := job.Status.CompletionTime, s.cj.Status.LastSuccessfulTime
	if finished(job) != batchv1.JobComplete || done == nil || last != nil && !done.After(last.Time) {
		return
	}
	s.cj.Status.LastSuccessfulTime = done
	s.changed = true
}

// dropMissing removes from the status the Jobs that are gone. If the cache lacks a Job, it reads the Job from the
// server, because the cache may be late (RULES J90). If the server has a recreated Job with the same name, dropMissing
// also removes the entry. Upstream keeps it.
func (s *round) dropMissing() error {
	if s.without.Missing {
		return nil
	}
	shown := map[types.UID]bool{}
	for _, job := range s.jobs {
		shown[job.UID] = true
	}
	for _, ref := range append([]corev1.ObjectReference(nil), s.cj.Status.Active...) {
		if shown[ref.UID] {
			continue
		}
		gone := s.without.LiveChild
		if !gone {
			obj, err := s.env.Client.Get(s.ctx, jobKind, ref.Namespace, ref.Name)
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			gone = err != nil || obj.(*batchv1.Job).UID != ref.UID && !s.without.LiveUID
		}
		if gone {
			unlist(s.cj, ref.UID)
			s.changed = true
		}
	}
	return nil
}

// interval is the time between two lists of the polling eras.
const interval = 10 * time.Second

// everything is the queue key for listing all Jobs and CronJobs.
const everything = "(all)"

// Era is one of the two eras that poll.
type Era string

const (
	// Selector is the era before ControllerRef. The annotation created-by decides which Jobs a CronJob owns.
	Selector Era = "selector"
	// ControllerRef is the era of the proposal of 2017. A Job's ControllerRef decides which CronJob owns it, even if
	// the annotation names another creator. For Jobs without a ControllerRef, the annotation decides (KIND-CRON-2).
	ControllerRef Era = "controllerref"
)

// Polling returns the controller in an era without watches. Every ten seconds it lists all Jobs and all CronJobs, and
// processes the CronJobs (KIND-CRON-1).
//
// The real controller scaled a Job down and deleted its Pods before it deleted the Job. This one only deletes the Job.
// It stores the scheduled time of a Job in an annotation, as in the current era.
func Polling(g Era) host.Controller {
	c := declared(string(g))
	c.Contract.Polls = true
	c.New = func(env *host.Env) host.Reconciler {
		env.Queue.Add(everything)
		return &poller{env: env, era: g, cronJobs: map[string]*batchv1.CronJob{}}
	}
	return c
}

// poller is the controller of a polling era. It holds the objects of the last lists.
type poller struct {
	env      *host.Env
	era      Era
	cronJobs map[string]*batchv1.CronJob // by key
	jobs     []*batchv1.Job
}

func (p *poller) Sync(ctx context.Context, key string) error {
	if key == everything {
		p.list(ctx)
		p.env.Queue.AddAfter(everything, interval)
		return nil
	}
	cj := p.cronJobs[key]
	if cj == nil {
		return nil // the last list did not contain the CronJob
	}
	r := &reconciler{env: p.env, without: &Without{VictimUID: true, Missing: p.era == Selector,
		LiveChild: true, TakeOwned: p.era == Selector, Terminating: true, History: true,
		Victim: true, AnyOwner: true}}
	s := &round{reconciler: r, ctx: ctx, cj: cj.DeepCopy(), now: p.env.Now(), polls: true}
	for _, job := range p.jobs {
		if p.parent(job) == cj.UID {
			s.jobs = append(s.jobs, job)
		}
	}
	// Ignore errors: the next list retries.
	_, _ = s.reconcile()
	if s.changed {
		_, _ = p.env.Client.UpdateStatus(ctx, s.cj)
	}
	return nil
}

// list lists the Jobs before the CronJobs. If a Job is created in between, the list lacks the Job. In the other order,
// the list would contain the Job, but the older CronJob's status would not. The Job would then count as forgotten.
func (p *poller) list(ctx context.Context) {
	jobs, err := p.env.Client.List(ctx, jobKind, "", metav1.ListOptions{})
	if err != nil {
		return
	}
	cronJobs, err := p.env.Client.List(ctx, cronJobKind, "", metav1.ListOptions{})
	if err != nil {
		return
	}
	p.jobs = p.jobs[:0]
	for _, obj := range jobs {
		p.jobs = append(p.jobs, obj.(*batchv1.Job))
	}
	clear(p.cronJobs)
	for _, obj := range cronJobs {
		cj := obj.(*batchv1.CronJob)
		p.cronJobs[routing.Key(cj)] = cj
		p.env.Queue.Add(routing.Key(cj))
	}
}

// parent returns the uid of the CronJob that owns a Job in this era, or "".
func (p *poller) parent(job *batchv1.Job) types.UID {
	if ref := metav1.GetControllerOfNoCopy(job); ref != nil && p.era == ControllerRef {
		if ref.Kind != cronJobKind.Kind {
			return ""
		}
		return ref.UID
	}
	if c := createdby.Creator(job); c != nil && c.Kind == cronJobKind.Kind {
		return c.UID
	}
	return ""
}

// cleanUp deletes finished Jobs, the oldest first, down to the history limits. The next reconcile retries failures.
func (s *round) cleanUp() {
	s.trim(batchv1.JobComplete, s.cj.Spec.SuccessfulJobsHistoryLimit)
	s.trim(batchv1.JobFailed, s.cj.Spec.FailedJobsHistoryLimit)
}

func (s *round) trim(how batchv1.JobConditionType, limit *int32) {
	if limit == nil {
		return
	}
	var ended []*batchv1.Job
	for _, job := range s.jobs {
		if finished(job) == how {
			ended = append(ended, job)
		}
	}
	slices.SortFunc(ended, byStart)
	if s.without.Newest {
		slices.Reverse(ended)
	}
	for _, job := range ended[:max(0, len(ended)-int(*limit))] {
		if s.delete(job) == nil {
			s.changed = true
		}
	}
}

// byStart orders Jobs by start time and then by name. Jobs that never started come last.
func byStart(a, b *batchv1.Job) int {
	x, y := a.Status.StartTime, b.Status.StartTime
	switch {
	case x == nil && y == nil:
	case x == nil:
		return 1
	case y == nil:
		return -1
	case !x.Equal(y):
		return x.Compare(y.Time)
	}
	return cmp.Compare(a.Name, b.Name)
}

// delete deletes a Job with its Pods, and removes it from the active list. In the current era it sends the Job's uid,
// so a recreated Job with the same name survives (EXACT-4). Upstream sends only the name (RULES J91).
func (s *round) delete(job *batchv1.Job) error {
	background := metav1.DeletePropagationBackground
	opts := metav1.DeleteOptions{PropagationPolicy: &background}
	if !s.without.VictimUID {
		opts.Preconditions = &metav1.Preconditions{UID: &job.UID}
	}
	if err := s.env.Client.Delete(s.ctx, jobKind, job.Namespace, job.Name, opts); err != nil {
		return err
	}
	unlist(s.cj, job.UID)
	return nil
}
