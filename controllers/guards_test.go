package controllers_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/controllers/internal/ttl"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// not-before-ttl and keep-runnable-pods permit right deletions by their controllers, and report wrong ones.
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

// Ended pods above the threshold are deleted: evicted pods first, then the oldest. Pods in the phases Running, Pending
// and Unknown are not counted.
func TestPodGCThreshold(t *testing.T) {
	for threshold, want := range map[int]string{
		-1: "old older evicted running pending unknown", 1: "old running pending unknown",
		2: "old older running pending unknown", 3: "old older evicted running pending unknown"} {
		w := trial.New(trial.Options{})
		w.Start("podgc", podgc.New(podgc.Options{Threshold: threshold}))
		pods := w.Server.KindNamed("pod")
		for _, p := range []struct {
			name, reason string
			phase        corev1.PodPhase
		}{{"older", "", corev1.PodFailed}, {"old", "", corev1.PodSucceeded}, {"evicted", "Evicted", corev1.PodFailed},
			{"running", "", corev1.PodRunning}, {"pending", "", corev1.PodPending},
			{"unknown", "", corev1.PodUnknown}} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: p.name},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}}}
			made := w.Cluster.As("user", &fakeapi.Request{Verb: fakeapi.Create, Kind: pods, Namespace: "default",
				Name: p.name, Object: pod})
			if made.Err != nil {
				t.Fatal(made.Err)
			}
			ended := made.Object.(*corev1.Pod).DeepCopy()
			ended.Status.Phase, ended.Status.Reason = p.phase, p.reason
			if resp := w.Cluster.As("user", &fakeapi.Request{Verb: fakeapi.Update, Kind: pods, Subresource: "status",
				Namespace: "default", Name: p.name, Object: ended}); resp.Err != nil {
				t.Fatal(resp.Err)
			}
			w.World.Clock.Advance(time.Second)
		}
		w.Settle(trial.Limits{For: time.Minute, Steps: 10_000})
		have := map[string]bool{}
		w.Server.EachIn(pods, "default", func(obj runtime.Object) bool {
			have[obj.(*corev1.Pod).Name] = true
			return true
		})
		var left []string
		for _, name := range []string{"old", "older", "evicted", "running", "pending", "unknown"} {
			if have[name] {
				left = append(left, name)
			}
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("threshold %d leaves %q, want %q", threshold, got, want)
		}
		w.Stop()
	}
}

// The oldest pods of an out-of-service node are removed first.
func TestPodGCOrderOfRemoval(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{
		Taints: []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}}}
	ask := func(r fakeapi.Request) {
		t.Helper()
		if resp := w.Cluster.As("user", &r); resp.Err != nil {
			t.Fatal(resp.Err)
		}
	}
	ask(fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed("node"), Name: "n", Object: node})
	pods := w.Server.KindNamed("pod")
	for _, name := range []string{"c", "b", "a"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Finalizers: []string{"example.com/hold"}},
			Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "img:1"}}}}
		ask(fakeapi.Request{Verb: fakeapi.Create, Kind: pods, Namespace: "default", Name: name, Object: pod})
		ask(fakeapi.Request{Verb: fakeapi.Delete, Kind: pods, Namespace: "default", Name: name})
		w.World.Clock.Advance(time.Second)
	}
	w.Start("podgc", podgc.New(podgc.Options{}))
	w.Settle(trial.Limits{For: time.Second, Steps: 10_000})
	order := ""
	for i := range w.World.History.Len() {
		if r := w.World.History.At(i); r.Op == sim.Commit && r.Process == "podgc" && r.Verb == "delete" {
			order += r.Object.Name
		}
	}
	if order != "cba" {
		t.Errorf("removed in the order %s, want cba", order)
	}
}
