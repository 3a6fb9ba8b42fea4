package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// A condition differs if any field differs, but a false one may be missing.
func TestSetCondition(t *testing.T) {
	is := batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue, Reason: "R", Message: "M"}
	for name, c := range map[string]struct {
		change func(c *batchv1.JobCondition)
		says   bool
	}{
		"nothing": {func(*batchv1.JobCondition) {}, false},
		"status":  {func(c *batchv1.JobCondition) { c.Status = corev1.ConditionFalse }, true},
		"reason":  {func(c *batchv1.JobCondition) { c.Reason = "S" }, true},
		"message": {func(c *batchv1.JobCondition) { c.Message = "N" }, true},
		"type":    {func(c *batchv1.JobCondition) { c.Type = batchv1.JobFailed }, true},
		"what is not there and false": {func(c *batchv1.JobCondition) {
			c.Type, c.Status = batchv1.JobFailed, corev1.ConditionFalse
		}, false},
	} {
		s, other := &batchv1.JobStatus{Conditions: []batchv1.JobCondition{is}}, is
		c.change(&other)
		if setCondition(s, &other) != c.says || c.says && *find(s.Conditions, other.Type) != other {
			t.Errorf("%s: %v", name, s.Conditions)
		}
	}
}

// A Job ends when all its pods are counted and none is terminating.
func TestFinish(t *testing.T) {
	end := newCondition(batchv1.JobComplete, "", "", start)
	for name, c := range map[string]struct {
		a    attempt
		u    batchv1.UncountedTerminatedPods
		ends bool
	}{
		"all is counted": {attempt{end: end}, batchv1.UncountedTerminatedPods{}, true},
		"it goes on":     {attempt{}, batchv1.UncountedTerminatedPods{}, false},
		"one that succeeded is named": {attempt{end: end},
			batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a"}}, false},
		"one that failed is named": {attempt{end: end}, batchv1.UncountedTerminatedPods{Failed: []types.UID{"a"}}, false},
		"one is on its way out":    {attempt{end: end, terminating: 1}, batchv1.UncountedTerminatedPods{}, false},
	} {
		c.a.job = &batchv1.Job{Status: batchv1.JobStatus{UncountedTerminatedPods: &c.u}}
		if c.a.finish() != c.ends || finished(c.a.job) != c.ends || (c.a.job.Status.CompletionTime != nil) != c.ends {
			t.Errorf("%s: %v", name, c.a.job.Status)
		}
	}
}

// The status lists up to 500 pods as uncounted at a time. The Job does not end before all its pods were listed. A pod
// that is listed as failed does not count as succeeded, even if its phase is Succeeded later.
func TestNoteEnded(t *testing.T) {
	a, _ := attemptOf(t, nil)
	for i := range maxUncounted + 1 {
		a.pods = append(a.pods, aPod(fmt.Sprint(i), phase(corev1.PodSucceeded), func(p *corev1.Pod) {
			p.UID = types.UID(p.Name)
		}))
	}
	a.uncountedFailed = map[types.UID]bool{"0": true}
	pods, noted, full := a.noteEnded()
	if u := a.job.Status.UncountedTerminatedPods; !noted || full != (len(u.Succeeded) == maxUncounted) ||
		len(pods) != maxUncounted+1 || slices.Contains(u.Succeeded, "0") {
		t.Errorf("%d pods named, %d released, noted %v, full %v", len(u.Succeeded), len(pods), noted, full)
	}
	a.job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	a.uncountedFailed = nil
	if pods, _, full := a.noteEnded(); !full || len(pods) != maxUncounted {
		t.Errorf("%d pods released, full %v", len(pods), full)
	}
	a.pods = []*corev1.Pod{aPod("gone", phase(corev1.PodSucceeded), func(p *corev1.Pod) { p.Finalizers = nil })}
	if pods, noted, _ := a.noteEnded(); len(pods) > 0 || noted {
		t.Error("a pod without the finalizer is released again")
	}
}

// wants returns the number of pods that the laws expect of a Job.
func TestWants(t *testing.T) {
	yes, two, one := true, int32(2), int32(1)
	met := func(types ...batchv1.JobConditionType) func(j *batchv1.Job) {
		return func(j *batchv1.Job) {
			for _, is := range types {
				j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: is,
					Status: corev1.ConditionTrue})
			}
		}
	}
	for name, c := range map[string]struct {
		change func(j *batchv1.Job)
		want   int
	}{
		"as many as may run": {nil, 3}, "suspended": {func(j *batchv1.Job) { j.Spec.Suspend = &yes }, 0},
		"complete": {met(batchv1.JobComplete), 0}, "failed": {met(batchv1.JobFailed), 0},
		"is to fail": {met(batchv1.JobFailureTarget), 0}, "has succeeded": {met(batchv1.JobSuccessCriteriaMet), 0},
		"fewer are left": {func(j *batchv1.Job) { j.Status.Succeeded = 2 }, 1},
		"some are going": {func(j *batchv1.Job) {
			j.Spec.PodReplacementPolicy, j.Status.Terminating = some(batchv1.Failed), &two
		}, 1},
		"some are going, and all that may run do": {func(j *batchv1.Job) {
			j.Spec.PodReplacementPolicy, j.Status.Terminating, j.Status.Active = some(batchv1.Failed), &two, 3
		}, 3},
		"some are going, and more run than may": {func(j *batchv1.Job) {
			j.Spec.PodReplacementPolicy, j.Status.Terminating, j.Status.Active = some(batchv1.Failed), &two, 4
		}, 3},
		"has indexes no more that have succeeded": {func(j *batchv1.Job) {
			j.Spec.CompletionMode, j.Status.CompletedIndexes = some(batchv1.IndexedCompletion), "0,5-6"
			j.Status.Succeeded = 3
		}, 2},
		"has indexes that nobody wrote down": {func(j *batchv1.Job) {
			j.Spec.CompletionMode, j.Status.Succeeded = some(batchv1.IndexedCompletion), 2
		}, 1},
		"one was enough": {func(j *batchv1.Job) {
			j.Spec.Completions, j.Status.Succeeded, j.Status.Active = nil, 1,
				2
		}, 2},
		"given up":     {func(j *batchv1.Job) { j.Status.FailedIndexes = some("0-1") }, 1},
		"nobody knows": {func(j *batchv1.Job) { j.Spec.Selector = nil }, -1},
		"another's":    {func(j *batchv1.Job) { j.Spec.ManagedBy = some("example.com/other") }, -1},
		"serial":       {func(j *batchv1.Job) { j.Spec.Parallelism = &one }, 1},
	} {
		a, _ := attemptOf(t, c.change)
		if got := wants(a.job); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The deletion of a running pod may leave too few pods, unless the state of the pods may already end the Job.
func TestStayWithinBounds(t *testing.T) {
	bounds := New(Options{Era: Current}).Contract.Invariants[0]
	works := func(name string) *corev1.Pod { return aPod(name) }
	uncounted := func(succeeded, failed int) func(j *batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: make([]types.UID, succeeded),
				Failed: make([]types.UID, failed)}
		}
	}
	one, none := int32(1), int32(0)
	seconds := int64(5)
	for name, c := range map[string]struct {
		change func(j *batchv1.Job)
		others []*corev1.Pod
		too    bool
	}{
		"too few":            {nil, []*corev1.Pod{works("b"), works("c")}, true},
		"enough":             {nil, []*corev1.Pod{works("b"), works("c"), works("d")}, false},
		"fewer are needed":   {nil, []*corev1.Pod{works("b"), works("c"), aPod("d", phase(corev1.PodSucceeded))}, false},
		"one is counted":     {uncounted(1, 0), []*corev1.Pod{works("b"), works("c")}, false},
		"one has failed":     {uncounted(0, 1), []*corev1.Pod{works("b"), works("c")}, true},
		"too many failed":    {func(j *batchv1.Job) { uncounted(0, 1)(j); j.Spec.BackoffLimit = &none }, nil, false},
		"too many have":      {func(j *batchv1.Job) { j.Status.Failed, j.Spec.BackoffLimit = 1, &none }, nil, false},
		"it has conditions":  {func(j *batchv1.Job) { j.Status.Conditions = make([]batchv1.JobCondition, 1) }, nil, false},
		"it has a deadline":  {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }, nil, false},
		"it has a policy":    {func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{} }, nil, false},
		"it has rules":       {func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{} }, nil, false},
		"restarts count":     {func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = "OnFailure" }, nil, false},
		"it asks for none":   {func(j *batchv1.Job) { j.Spec.Parallelism = &none }, nil, false},
		"serial, and enough": {func(j *batchv1.Job) { j.Spec.Parallelism = &one }, []*corev1.Pod{works("b")}, false},
		"one was enough": {func(j *batchv1.Job) { j.Spec.Completions = nil },
			[]*corev1.Pod{aPod("b", phase(corev1.PodSucceeded))}, false},
		"no number, and none yet": {func(j *batchv1.Job) { j.Spec.Completions = nil }, nil, true},
		"looks wrong: lost ones are not replaced": {func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = some(batchv1.Failed) },
			[]*corev1.Pod{works("b"), works("c"), aPod("d", phase(corev1.PodFailed))}, false},
	} {
		a, _ := attemptOf(t, c.change)
		var others []runtime.Object
		for _, p := range c.others {
			others = append(others, p)
		}
		f := law.Facts{Owner: a.job, Dependents: others, Before: works("a")}
		if got := bounds.Check(&f); (got != "") != c.too {
			t.Errorf("%s: %q", name, got)
		}
		ended := law.Facts{Owner: a.job, Dependents: others, Before: aPod("a", phase(corev1.PodFailed))}
		if f.After = works("a"); bounds.Check(&ended)+bounds.Check(&f) != "" {
			t.Errorf("%s: a pod that has ended, or that is not deleted, counts as lost", name)
		}
	}
}

// seen is a view of cached pods.
type seen []*corev1.Pod

func (v seen) Get(kind schema.GroupVersionKind, namespace, name string) runtime.Object { return nil }

func (v seen) Each(kind schema.GroupVersionKind, namespace string, f func(runtime.Object) bool) {
	for _, p := range v {
		if kind == pod.Kind && p.Namespace == namespace && !f(p) {
			return
		}
	}
}

// A change of a Job's spec enqueues it at once, and other changes enqueue it after a delay. When a Job has ended, is
// gone or is recreated, its pods are enqueued, so that their finalizers are removed.
func TestJobRoute(t *testing.T) {
	job := func(uid types.UID, generation int64, ended bool) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "j", UID: uid,
			Generation: generation}}
		if j.Spec.Selector = (&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}); ended {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}
		return j
	}
	for _, c := range []struct {
		name     string
		old, cur *batchv1.Job
		want     string
	}{
		{"new", nil, job("a", 1, false), "now"}, {"new, and has ended", nil, job("a", 1, true), "now"},
		{"its spec", job("a", 1, false), job("a", 2, false), "now"},
		{"its status", job("a", 1, false), job("a", 1, false), "later"},
		{"it ends", job("a", 1, false), job("a", 1, true), "frees later"},
		{"recreated", job("a", 1, false), job("b", 1, false), "now frees"},
		{"gone", job("a", 1, false), nil, "now frees"},
	} {
		var e host.Event
		if c.old != nil {
			e.Old = c.old
		}
		if c.cur != nil {
			e.New = c.cur
		}
		free := aPod("free", func(p *corev1.Pod) { p.Finalizers = nil })
		var out host.Effect
		r := jobRoute(&Options{Era: Current})
		r.Do(seen{aPod("p"), free}, e, &out)
		var got []string
		for _, key := range out.Keys {
			if p, is := orphanOf(key); !is {
				got = append(got, "now")
			} else if p == "default/p" {
				got = append(got, "frees")
			}
		}
		if len(out.Delayed) > 0 {
			got = append(got, "later")
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// accounts is a client that records written statuses, and fails one of the writes.
type accounts struct {
	host.Client
	wrote   []batchv1.JobStatus
	refuses int    // which write fails; 1 is the first
	holds   string // the pod whose finalizer stays
}

var errNoStatus = errors.New("the write of the status fails")

func (c *accounts) UpdateStatus(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	c.wrote = append(c.wrote, *obj.(*batchv1.Job).Status.DeepCopy())
	if len(c.wrote) == c.refuses {
		return nil, errNoStatus
	}
	return obj, nil
}

func (c *accounts) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	if name == c.holds {
		return nil, errRefused
	}
	return c.Client.Patch(ctx, gvk, namespace, name, p)
}

// accountOf returns a reconcile of a Job that has met its success criteria, with this number of succeeded pods.
func accountOf(t *testing.T, pods int) (*attempt, *accounts) {
	var all []*corev1.Pod
	for i := range pods {
		all = append(all, aPod(fmt.Sprint("p", i), phase(corev1.PodSucceeded)))
	}
	a, user := attemptOf(t, nil, all...)
	c := &accounts{Client: user}
	a.r.env.Client = c
	a.end = newCondition(batchv1.JobSuccessCriteriaMet, "", "", start)
	return a, c
}

// If one pod's finalizer stays, the other pods are counted. An error of a status write hides the error of the
// finalizer's removal.
func TestAccountOfOneThatIsHeld(t *testing.T) {
	for refuses, want := range map[int]error{0: errRefused, 1: errNoStatus, 2: errNoStatus} {
		a, c := accountOf(t, 2)
		c.holds, c.refuses = "p1", refuses
		err := a.account(t.Context(), false)
		said := errors.Is(err, errNoStatus)
		if want == errRefused {
			said = errors.Is(err, errRefused) && c.wrote[1].Succeeded == 1
		}
		if !said || finished(a.job) {
			t.Errorf("write %d fails: %v, finished %v", refuses, err, finished(a.job))
		}
		if u := c.wrote[0].UncountedTerminatedPods; len(u.Succeeded) != 2 {
			t.Errorf("the status names %v, want 2 pods", u.Succeeded)
		}
	}
}
