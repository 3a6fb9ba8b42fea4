package cronjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/sim/host"
)

var jobs = schema.GroupResource{Group: "batch", Resource: "jobs"}

// server has Jobs and scripted responses to reads of CronJobs. It records deletions with uids.
type server struct {
	host.Client
	cronJobs []any // objects and errors
	jobs     map[string]*batchv1.Job
	deleted  []string
}

func (s *server) Get(_ context.Context, kind schema.GroupVersionKind, _, name string) (runtime.Object, error) {
	if kind == jobKind {
		if j := s.jobs[name]; j != nil {
			return j, nil
		}
		return nil, apierrors.NewNotFound(jobs, name)
	}
	next := s.cronJobs[0]
	s.cronJobs = s.cronJobs[1:]
	if err, failed := next.(error); failed {
		return nil, err
	}
	return next.(runtime.Object), nil
}

func (s *server) Create(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	j := obj.(*batchv1.Job)
	if s.jobs[j.Name] != nil {
		return nil, apierrors.NewAlreadyExists(jobs, j.Name)
	}
	return j, nil
}

func (s *server) Delete(_ context.Context, _ schema.GroupVersionKind, _, name string, o metav1.DeleteOptions) error {
	if o.Preconditions != nil {
		name += " " + string(*o.Preconditions.UID)
	}
	s.deleted = append(s.deleted, name)
	return nil
}

// cronJob returns the CronJob ns/a with the uid a. Its status lists these Jobs by name, which is also their uid.
func cronJob(active ...string) *batchv1.CronJob {
	cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "a"}}
	cj.Spec.Schedule = "* * * * *"
	for _, name := range active {
		cj.Status.Active = append(cj.Status.Active, corev1.ObjectReference{Namespace: "ns", Name: name,
			UID: types.UID(name)})
	}
	return cj
}

// job returns a running Job of that CronJob.
func job(name string, change ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name),
		Annotations:     map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "2024-05-01T00:00:00Z"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cronJob(), cronJobKind)}}}
	for _, c := range change {
		c(j)
	}
	return j
}

func going(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{} }

func ended(how batchv1.JobConditionType) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue}}
	}
}

func completed(when string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		t := metav1.NewTime(at(when))
		j.Status.CompletionTime = &t
	}
}

// newRound returns a reconcile of a CronJob with these cached Jobs.
func newRound(t *testing.T, s *server, cj *batchv1.CronJob, own ...*batchv1.Job) *round {
	return &round{reconciler: &reconciler{env: &host.Env{Client: s}, without: &Without{}}, ctx: t.Context(), cj: cj,
		jobs: own, now: at("2024-05-01T00:00:30Z")}
}

func active(cj *batchv1.CronJob) string {
	var names []string
	for _, r := range cj.Status.Active {
		names = append(names, r.Name)
	}
	return fmt.Sprint(names)
}

// Jobs that started first are cleaned up first. Jobs that never started come last.
func TestByStart(t *testing.T) {
	at := func(text string) *metav1.Time {
		t := metav1.NewTime(at(text))
		return &t
	}
	order := []*batchv1.Job{job("b"), job("c"), job("a"), job("0"), job("d")}
	order[0].Status.StartTime = at("2024-05-01T00:01:00Z")
	order[1].Status.StartTime = at("2024-05-01T00:01:00Z")
	order[2].Status.StartTime = at("2024-05-01T00:02:00Z")
	for i, a := range order {
		for j, b := range order {
			if got := byStart(a, b); got != cmp.Compare(i, j) {
				t.Errorf("%s to %s: %d, want %d", a.Name, b.Name, got, cmp.Compare(i, j))
			}
		}
	}
}

// To replace a running Job, all running Jobs are deleted, each once and by its uid, whether the status lists them or
// not. Exceptions are Jobs that are terminating, gone or no longer owned when they are read, and the Job that is due.
func TestReplace(t *testing.T) {
	own := []*batchv1.Job{job("listed"), job("forgotten"), job("going", going), job("a-28575360"),
		job("ended", ended(batchv1.JobFailed)), job("gone"), job("taken")}
	taken := job("taken", func(j *batchv1.Job) { j.OwnerReferences = nil })
	s := &server{jobs: map[string]*batchv1.Job{"listed": own[0], "forgotten": own[1], "going": own[2], "taken": taken}}
	r := newRound(t, s, cronJob("listed"), own...)
	if err := r.replace(at("2024-05-01T00:00:00Z"), true); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.deleted); got != "[listed listed forgotten forgotten]" || active(r.cj) != "[]" {
		t.Errorf("deleted %s, and the status lists %s", got, active(r.cj))
	}
}

// A running Job that the status lacks counts as forgotten, unless it is terminating or a live read shows it listed.
func TestForgotten(t *testing.T) {
	late, unread := cronJob("one"), apierrors.NewInternalError(errors.New("no"))
	for name, c := range map[string]struct {
		jobs   []*batchv1.Job
		reads  []any
		want   int
		failed bool
	}{
		"forgotten":       {[]*batchv1.Job{job("one")}, []any{cronJob()}, 1, false},
		"going":           {[]*batchv1.Job{job("one", going)}, []any{cronJob()}, 0, false},
		"late":            {[]*batchv1.Job{job("one")}, []any{late}, 0, false},
		"late, then lost": {[]*batchv1.Job{job("one"), job("two")}, []any{late, unread}, 0, true},
	} {
		n, err := newRound(t, &server{cronJobs: c.reads}, cronJob(), c.jobs...).observe()
		if n != c.want || (err != nil) != c.failed {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

// The last success is the time at which a Job completed. No other time counts.
func TestNoteSuccess(t *testing.T) {
	old := metav1.NewTime(at("2024-05-01T00:00:00Z"))
	for name, c := range map[string]struct {
		job  *batchv1.Job
		last *metav1.Time
		want string // "" if unchanged
	}{
		"the first": {job("j", ended(batchv1.JobComplete), completed("2024-04-01T00:00:00Z")), nil,
			"2024-04-01T00:00:00Z"},
		"later":           {job("j", ended(batchv1.JobComplete), completed("2024-05-01T00:01:00Z")), &old, "2024-05-01T00:01:00Z"},
		"earlier":         {job("j", ended(batchv1.JobComplete), completed("2024-04-01T00:00:00Z")), &old, ""},
		"without a time":  {job("j", ended(batchv1.JobComplete)), nil, ""},
		"... and another": {job("j", ended(batchv1.JobComplete)), &old, ""},
		"it has failed":   {job("j", ended(batchv1.JobFailed), completed("2024-05-01T00:01:00Z")), &old, ""},
	} {
		r := newRound(t, &server{}, cronJob())
		r.cj.Status.LastSuccessfulTime = c.last
		r.noteSuccess(c.job)
		want := c.last
		if c.want != "" {
			t := metav1.NewTime(at(c.want))
			want = &t
		}
		if got := r.cj.Status.LastSuccessfulTime; !got.Equal(want) || r.changed != (c.want != "") {
			t.Errorf("%s: %v, written %t", name, got, r.changed)
		}
	}
}

// Name and namespace show whether a Job was started. An existing Job with the name is added to the status if the
// CronJob owns it and the status does not list its uid yet.
func TestStarted(t *testing.T) {
	due := at("2024-05-01T00:00:00Z")
	name := newRound(t, &server{}, cronJob()).jobName(due)
	r := newRound(t, &server{}, cronJob(name))
	if !r.started(due) || r.started(due.Add(time.Minute)) {
		t.Error("only the Job in the status must count as started")
	}
	r.cj.Status.Active[0].Namespace = "elsewhere"
	if r.started(due) {
		t.Error("a Job of another namespace counts as started")
	}

	s := &server{jobs: map[string]*batchv1.Job{name: job(name)}}
	for _, c := range []struct{ uid, want string }{{"another", "[odd " + name + "]"}, {name, "[odd]"}} {
		r := newRound(t, s, cronJob("odd"))
		r.cj.Status.Active[0].UID = types.UID(c.uid)
		if err := r.create(due); err != nil || active(r.cj) != c.want {
			t.Errorf("%v, and the status has %s, want %s", err, active(r.cj), c.want)
		}
	}
}

// A recreated CronJob with another schedule is another object, so it is reconciled at once.
func TestReplacedWithAnotherSchedule(t *testing.T) {
	old, cur := cronJob(), cronJob()
	cur.Spec.Schedule = "0 * * * *"
	for uid, want := range map[types.UID]string{"a": "[ns/rescheduled:a]", "b": "[ns/a]"} {
		cur.UID = uid
		var out host.Effect
		cronJobRoute(&Without{}).Do(nil, host.Event{Old: old, New: cur}, &out)
		if got := fmt.Sprint(out.Keys); got != want {
			t.Errorf("uid %s: %s, want %s", uid, got, want)
		}
	}
}

// queue discards keys.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]
}

func (queue) Add(string) {}

// lists is a server that returns CronJobs and no Jobs.
type lists struct {
	server
	of []runtime.Object
}

func (l *lists) List(_ context.Context, k schema.GroupVersionKind, _ string,
	_ metav1.ListOptions) ([]runtime.Object, error) {
	if k == jobKind {
		return nil, nil
	}
	return l.of, nil
}

// A CronJob that is missing from the next list is skipped, even if its key is still in the queue.
func TestPollingForgetsWhatIsGone(t *testing.T) {
	l := &lists{of: []runtime.Object{cronJob()}}
	p := &poller{env: &host.Env{Client: l, Queue: queue{}}, cronJobs: map[string]*batchv1.CronJob{}}
	p.list(t.Context())
	if p.cronJobs["ns/a"] == nil {
		t.Error("a listed CronJob is missing")
	}
	l.of = nil
	p.list(t.Context())
	if p.cronJobs["ns/a"] != nil {
		t.Error("a CronJob that is no longer listed was kept")
	}
}

// Before ControllerRef a Job belonged to its creator, if the creator was a CronJob.
func TestParent(t *testing.T) {
	p := &poller{era: Selector}
	for _, c := range []struct {
		kind schema.GroupVersionKind
		want types.UID
	}{{cronJobKind, "a"}, {jobKind, ""}} {
		j := job("j")
		j.Annotations = createdby.Annotate(nil, cronJob(), c.kind)
		if got := p.parent(j); got != c.want {
			t.Errorf("the parent is %q, want %q", got, c.want)
		}
	}
}

func (*server) UpdateStatus(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	return obj, nil
}

// Before the current era a Job was deleted by name, even if it was a recreated Job.
func TestPollingDeletesByName(t *testing.T) {
	s, none, yes := &server{}, int32(0), true
	cj := cronJob()
	cj.Spec.FailedJobsHistoryLimit, cj.Spec.Suspend = &none, &yes
	p := &poller{era: ControllerRef,
		env:      &host.Env{Client: s, Now: func() time.Time { return at("2024-05-01T00:00:30Z") }},
		cronJobs: map[string]*batchv1.CronJob{"ns/a": cj}, jobs: []*batchv1.Job{job("j", ended(batchv1.JobFailed))}}
	if err := p.Sync(t.Context(), "ns/a"); err != nil || fmt.Sprint(s.deleted) != "[j]" {
		t.Errorf("%v; deleted %s", err, s.deleted)
	}
}
