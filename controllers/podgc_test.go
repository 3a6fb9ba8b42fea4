package controllers_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

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
