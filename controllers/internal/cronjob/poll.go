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

// interval is how often the polling eras look at everything.
const interval = 10 * time.Second

// everything is the key that stands for a look at everything.
const everything = "(all)"

// Era is a way of knowing which Jobs are a CronJob's.
type Era string

// The polling eras.
const (
	// Selector: by the annotation that says who made them (before ControllerRef).
	Selector Era = "selector"
	// ControllerRef: as the proposal has it in 2017. What has a ControllerRef is its
	// owner's, whoever made it; the annotation is for the rest (KIND-CRON-2).
	ControllerRef Era = "controllerref"
)

// Polling returns the controller in an era that watches nothing: it lists all
// Jobs and all CronJobs every ten seconds, and goes through these (KIND-CRON-1).
//
// It deletes a Job where the real one scaled it down, deleted its Pods, and then it;
// and the time of a Job stands in an annotation, as it does today.
func Polling(g Era) host.Controller {
	c := declared(string(g))
	c.Contract.Polls = true
	c.New = func(env *host.Env) host.Reconciler {
		env.Queue.Add(everything)
		return &poller{env: env, era: g, cronJobs: map[string]*batchv1.CronJob{}}
	}
	return c
}

// poller remembers what it has listed, until it has gone through it.
type poller struct {
	env      *host.Env
	era      Era
	cronJobs map[string]*batchv1.CronJob // by key
	jobs     []*batchv1.Job
}

// Sync lists everything, or does what is due for one CronJob of the list.
func (p *poller) Sync(ctx context.Context, key string) error {
	if key == everything {
		p.list(ctx)
		p.env.Queue.AddAfter(everything, interval)
		return nil
	}
	cj := p.cronJobs[key]
	if cj == nil {
		return nil // it was gone when everything was listed again
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
	// Nothing that fails is tried again before the next look at everything.
	_, _ = s.reconcile()
	if s.changed {
		_, _ = p.env.Client.UpdateStatus(ctx, s.cj)
	}
	return nil
}

// list lists Jobs and then CronJobs: a Job that is started meanwhile is not yet known,
// and so not taken for one that nobody started.
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

// parent is the uid of the CronJob that a Job belongs to; "" for none.
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
