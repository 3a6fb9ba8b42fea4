package cronjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// interval is how often the polling eras check everything.
const interval = 10 * time.Second

// everything is the key for checking everything.
const everything = "(all)"

// Era decides which Jobs are a CronJob's.
type Era string

// The polling eras.
const (
	// Selector: by the annotation that names the creator (before ControllerRef).
	Selector Era = "selector"
	// ControllerRef: as proposed in 2017. A ControllerRef names the owner, whoever created the Job; the annotation
	// counts for the rest (KIND-CRON-2).
	ControllerRef Era = "controllerref"
)

// Polling returns the controller in an era without watches: every ten seconds it lists all Jobs and all CronJobs, and
// processes these (KIND-CRON-1).
//
// The real one scaled a Job down, deleted its Pods, and then the Job; here it only deletes the Job. The time of a Job
// is in an annotation, as today.
func Polling(g Era) host.Controller {
	c := declared(string(g))
	c.Contract.Polls = true
	c.New = func(env *host.Env) host.Reconciler {
		env.Queue.Add(everything)
		return &poller{env: env, era: g, cronJobs: map[string]*batchv1.CronJob{}}
	}
	return c
}

// poller remembers its lists until it has processed them.
type poller struct {
	env      *host.Env
	era      Era
	cronJobs map[string]*batchv1.CronJob // by key
	jobs     []*batchv1.Job
}

// Sync lists everything, or processes one CronJob of the list.
func (p *poller) Sync(ctx context.Context, key string) error {
	if key == everything {
		p.list(ctx)
		p.env.Queue.AddAfter(everything, interval)
		return nil
	}
	cj := p.cronJobs[key]
	if cj == nil {
		return nil // it was gone in a later list
	}
	r := &reconciler{env: p.env, without: &Without{VictimUID: true, Missing: p.era == Selector,
		LiveChild: true, TakeOwned: p.era == Selector, Terminating: true, History: true,
		Victim: true, Stranger: true}}
	s := &round{reconciler: r, ctx: ctx, cj: cj.DeepCopy(), now: p.env.Now(), polls: true}
	for _, job := range p.jobs {
		if p.parent(job) == cj.UID {
			s.jobs = append(s.jobs, job)
		}
	}
	// A failure is not retried before the next list.
	_, _ = s.reconcile()
	if s.changed {
		_, _ = p.env.Client.UpdateStatus(ctx, s.cj)
	}
	return nil
}

// list lists Jobs and then CronJobs. A Job that is started in between is then unknown, and not mistaken for an unlisted
// one.
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

// parent returns the uid of a Job's CronJob, or "".
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
