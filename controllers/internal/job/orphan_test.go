package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// TestTallies holds what keeps a pod that is being deleted to what upstream's
// getPodsWithDelayedDeletionPerIndex says: the failed pod of an index that is yet to be started again.
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
		"of a suspended Job": {kept: true},
		"started again":      {others: []runtime.Object{made("again", "1", false)}},
		"failed later":       {others: []runtime.Object{fails("q", "1")}},
		"failed before":      {others: []runtime.Object{fails("a", "1")}, kept: true},
		"another started":    {others: []runtime.Object{made("other", "2", false)}, kept: true},
		"no limit":           {change: func(j *batchv1.Job, _ *corev1.Pod) { j.Spec.BackoffLimitPerIndex = nil }},
		"failed for good": {change: func(_ *batchv1.Job, p *corev1.Pod) {
			p.Annotations[batchv1.JobIndexFailureCountAnnotation] = "1"
		}},
		"given up":  {change: func(j *batchv1.Job, _ *corev1.Pod) { *j.Status.FailedIndexes = "1" }},
		"completed": {change: func(j *batchv1.Job, _ *corev1.Pod) { j.Status.CompletedIndexes = "0-1" }},
		"going":     {change: func(j *batchv1.Job, _ *corev1.Pod) { j.DeletionTimestamp = &now }},
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
				t.Errorf("kept because %q", why)
			}
		})
	}
}
