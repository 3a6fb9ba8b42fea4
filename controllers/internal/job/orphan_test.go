package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// TestTallies checks which terminating pods keep their finalizer. As in upstream's getPodsWithDelayedDeletionPerIndex,
// the failed pod of an index keeps it until the index has another pod.
func TestTallies(t *testing.T) {
	yes, now := true, metav1.Now()
	made := func(name, index string, ending bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name),
			Annotations: map[string]string{indexKey: index},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "a", UID: "u", Controller: &yes}}}}
		if ending {
			p.DeletionTimestamp = &now
		}
		return p
	}
	fails := func(name, index string) *corev1.Pod {
		p := made(name, index, true)
		p.Finalizers = []string{tracking}
		return p
	}
	counted := func(p *corev1.Pod) *corev1.Pod { p.Finalizers = nil; return p }
	succeeded := func(p *corev1.Pod) *corev1.Pod { p.Status.Phase = corev1.PodSucceeded; return p }
	limited := func() *batchv1.Job {
		mode := batchv1.IndexedCompletion
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}, Spec: batchv1.JobSpec{Suspend: &yes,
			CompletionMode: &mode, Completions: new(int32(3)), BackoffLimitPerIndex: new(int32(1))},
			Status: batchv1.JobStatus{FailedIndexes: new(string)}}
	}
	for name, c := range map[string]struct {
		change func(j *batchv1.Job, p *corev1.Pod)
		others []runtime.Object
		kept   bool
	}{
		"of a suspended Job":            {kept: true},
		"started again":                 {others: []runtime.Object{made("again", "1", false)}},
		"failed later":                  {others: []runtime.Object{fails("q", "1")}},
		"failed before":                 {others: []runtime.Object{fails("a", "1")}, kept: true},
		"another started":               {others: []runtime.Object{made("other", "2", false)}, kept: true},
		"failed later, and was counted": {others: []runtime.Object{counted(fails("q", "1"))}, kept: true},
		"succeeded later":               {others: []runtime.Object{succeeded(fails("q", "1"))}, kept: true},
		"another Job's": {others: []runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "q", UID: "q",
			Annotations: map[string]string{indexKey: "1"}}}}, kept: true},
		"none has been given up": {kept: true,
			change: func(j *batchv1.Job, _ *corev1.Pod) { j.Status.FailedIndexes = nil }},
		"not being deleted": {change: func(_ *batchv1.Job, p *corev1.Pod) {
			p.DeletionTimestamp, p.Status.Phase = nil, corev1.PodFailed
		}},
		"has no indexes": {change: func(j *batchv1.Job, _ *corev1.Pod) { j.Spec.CompletionMode = nil }},
		"has ended":      {change: ends(batchv1.JobComplete)},
		"is to fail":     {change: ends(batchv1.JobFailureTarget)},
		"is to succeed":  {change: ends(batchv1.JobSuccessCriteriaMet)},
		"has not failed": {change: func(_ *batchv1.Job, p *corev1.Pod) { succeeded(p) }},
		"no limit":       {change: func(j *batchv1.Job, _ *corev1.Pod) { j.Spec.BackoffLimitPerIndex = nil }},
		"failed for good": {change: func(_ *batchv1.Job, p *corev1.Pod) {
			p.Annotations[batchv1.JobIndexFailureCountAnnotation] = "1"
		}},
		"given up":  {change: func(j *batchv1.Job, _ *corev1.Pod) { *j.Status.FailedIndexes = "1" }},
		"completed": {change: func(j *batchv1.Job, _ *corev1.Pod) { j.Status.CompletedIndexes = "0-1" }},
		"deleted":   {change: func(j *batchv1.Job, _ *corev1.Pod) { j.DeletionTimestamp = &now }},
		"no index":  {change: func(_ *batchv1.Job, p *corev1.Pod) { p.Annotations[indexKey] = "3" }},
	} {
		t.Run(name, func(t *testing.T) {
			j, p := limited(), made("p", "1", true)
			if c.change != nil {
				c.change(j, p)
			}
			why := keeps(p, func(kind string) []runtime.Object {
				if kind == "Job" {
					return []runtime.Object{j}
				}
				return append(c.others, p)
			})
			if (why != "") != c.kept {
				t.Errorf("kept: %v, want %v: %q", why != "", c.kept, why)
			}
		})
	}
}

// TestAwaited checks a Job that replaces only failed pods. While the Job runs, it waits until a terminating pod has
// failed or succeeded.
func TestAwaited(t *testing.T) {
	yes, now := true, metav1.Now()
	for name, c := range map[string]struct {
		change func(j *batchv1.Job, p *corev1.Pod)
		kept   bool
	}{
		"it still runs":    {kept: true},
		"it has failed":    {change: func(_ *batchv1.Job, p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }},
		"it has succeeded": {change: func(_ *batchv1.Job, p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }},
		"it stays":         {change: func(_ *batchv1.Job, p *corev1.Pod) { p.DeletionTimestamp = nil }},
		"any is replaced":  {change: func(j *batchv1.Job, _ *corev1.Pod) { j.Spec.PodReplacementPolicy = nil }},
		"terminating Job":  {change: func(j *batchv1.Job, _ *corev1.Pod) { j.DeletionTimestamp = &now }},
		"it has ended":     {change: ends(batchv1.JobFailed)},
		"it is to fail":    {change: ends(batchv1.JobFailureTarget)},
		"it is to succeed": {change: ends(batchv1.JobSuccessCriteriaMet)},
		"another controller's": {change: func(j *batchv1.Job, _ *corev1.Pod) {
			j.Spec.ManagedBy = some("example.com/other")
		}, kept: true},
		"of another API": {change: func(j *batchv1.Job, p *corev1.Pod) {
			j.Spec.PodReplacementPolicy, p.OwnerReferences[0].APIVersion = nil, "example.com/v1"
		}, kept: true},
		"of another kind": {change: func(j *batchv1.Job, p *corev1.Pod) {
			j.Spec.PodReplacementPolicy, p.OwnerReferences[0].Kind = nil, "CronJob"
		}, kept: true},
		"a Job that is gone": {change: func(_ *batchv1.Job, p *corev1.Pod) { p.OwnerReferences[0].UID = "former" }},
		"nobody's":           {change: func(_ *batchv1.Job, p *corev1.Pod) { p.OwnerReferences = nil }},
	} {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"},
			Spec: batchv1.JobSpec{PodReplacementPolicy: some(batchv1.Failed)}}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", DeletionTimestamp: &now,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "a", UID: "u",
				Controller: &yes}}}}
		if c.change != nil {
			c.change(j, p)
		}
		if why := keeps(p, func(string) []runtime.Object { return []runtime.Object{j} }); (why != "") != c.kept {
			t.Errorf("%s: kept: %v, want %v: %q", name, why != "", c.kept, why)
		}
	}
}

// ends returns a change that sets a condition of a Job that ends or has ended.
func ends(how batchv1.JobConditionType) func(*batchv1.Job, *corev1.Pod) {
	return func(j *batchv1.Job, _ *corev1.Pod) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue}}
	}
}

// TestFollows compares two failed pods of an index. The later one in the list counts, unless its failure count is lower
// or it ended earlier (indexed_job_utils.go, getPodsWithDelayedDeletionPerIndex).
func TestFollows(t *testing.T) {
	one := func(name string, before string, ended int) *corev1.Pod {
		p := exited(ended)
		p.Name, p.Annotations = name, map[string]string{batchv1.JobIndexFailureCountAnnotation: before}
		return p
	}
	for _, c := range []struct {
		name string
		o, p *corev1.Pod
		want bool
	}{
		{"itself", one("a", "0", 1), one("a", "0", 1), false},
		{"the later", one("b", "1", 1), one("a", "1", 1), true},
		{"the earlier", one("a", "1", 1), one("b", "1", 1), false},
		{"the later, of fewer failures", one("b", "0", 9), one("a", "1", 1), false},
		{"the later, of more", one("b", "1", 1), one("a", "0", 1), true},
		{"the later, which ended before", one("b", "1", 1), one("a", "0", 9), false},
		{"the earlier, of more failures", one("a", "1", 1), one("b", "0", 1), true},
		{"the earlier, of fewer failures", one("a", "0", 1), one("b", "1", 1), false},
		{"the earlier, which ended after", one("a", "0", 9), one("b", "0", 1), true},
		{"the earlier, of as many failures", one("a", "1", 1), one("b", "1", 1), false},
	} {
		if got := follows(c.o, c.p); got != c.want {
			t.Errorf("%s: follows %v, want %v", c.name, got, c.want)
		}
	}
}
