package controllers_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/controllers/internal/ttl"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// TTL-1 and PODGC-1 allow what their controllers may do, and forbid the rest.
func TestWhatCollectorsMayDelete(t *testing.T) {
	at, seconds := func(s int) time.Time { return sim.Epoch.Add(time.Duration(s) * time.Second) }, int32(10)
	job := func(kind batchv1.JobConditionType, is corev1.ConditionStatus) runtime.Object {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"},
			Spec: batchv1.JobSpec{TTLSecondsAfterFinished: &seconds}, Status: batchv1.JobStatus{
				Conditions: []batchv1.JobCondition{{Type: kind, Status: is, LastTransitionTime: metav1.NewTime(at(0))}}}}
	}
	failed, running := job(batchv1.JobFailed, "True"), job(batchv1.JobFailed, "False")
	kept := failed.DeepCopyObject().(*batchv1.Job)
	kept.Spec.TTLSecondsAfterFinished = nil
	pod := func(phase corev1.PodPhase, node string, deleted bool) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase}}
		if deleted {
			p.DeletionTimestamp = &metav1.Time{Time: at(0)}
		}
		return p
	}
	gone := func(obj runtime.Object, now int) *law.Facts { return &law.Facts{Before: obj, Now: at(now)} }
	marks := func(p *corev1.Pod) *law.Facts { return &law.Facts{Before: p, After: p} }
	left := func(obj runtime.Object, now int, forever bool) *law.Facts {
		return &law.Facts{Now: at(now), Forever: forever, All: func(string) []runtime.Object {
			return []runtime.Object{obj}
		}}
	}
	ready := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}}}
	out := []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}
	nodes := map[string]*corev1.Node{"ready": {Spec: corev1.NodeSpec{Taints: out}, Status: ready}, "slow": {},
		"out": {Spec: corev1.NodeSpec{Taints: out}}}
	get := func(_, _, name string) runtime.Object {
		if n := nodes[name]; n != nil {
			return n
		}
		return nil
	}
	after, collects := ttl.New(ttl.Without{}).Contract.Invariants[0], podgc.New(podgc.Options{}).Contract.Invariants[0]
	for _, c := range []struct {
		name    string
		of      *law.Invariant
		facts   *law.Facts
		allowed bool
	}{
		{"its time is over", after, gone(failed, 10), true},
		{"a second too early", after, gone(failed, 9), false},
		{"it has not failed", after, gone(running, 99), false},
		{"it has no time", after, gone(kept, 99), false},
		{"no Job", after, gone(pod("Failed", "", false), 99), false},
		{"left after its time", after, left(failed, 10, false), false},
		{"looks wrong: left, and the clock stops before its time", after, left(failed, 9, false), true},
		{"left for ever", after, left(failed, 9, true), false},
		{"looks wrong: left for ever, and it has no time", after, left(kept, 99, true), true},
		{"an ended pod", collects, gone(pod("Failed", "ready", false), 0), true},
		{"a running pod of a missing node", collects, gone(pod("Running", "none", false), 0), false},
		{"looks wrong: it marks the pod of a missing node", collects, marks(pod("Running", "none", false)), true},
		{"it marks the pod of a ready node", collects, marks(pod("Running", "ready", true)), false},
		{"it marks the pod of a node without the taint", collects, marks(pod("Running", "slow", true)), false},
		{"it marks a pod that nobody deletes", collects, marks(pod("Running", "out", false)), false},
		{"looks wrong: it marks a deleted pod of a node out of service", collects, marks(pod("Running", "out", true)), true},
		{"it marks a pod that waits for a node", collects, marks(pod("Pending", "", false)), false},
		{"looks wrong: it marks a deleted pod without a node", collects, marks(pod("Pending", "", true)), true},
	} {
		c.facts.Get = get
		if why := c.of.Check(c.facts); (why == "") != c.allowed {
			t.Errorf("%s %s: %q", c.of.ID, c.name, why)
		}
	}
}
