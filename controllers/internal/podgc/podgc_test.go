package podgc

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/trial"
)

// Of the pods that have ended those above the threshold go: evicted ones first, then
// the oldest. Those that run are not counted.
func TestThreshold(t *testing.T) {
	for threshold, want := range map[int]string{
		-1: "old older evicted running", 1: "old running", 2: "old older running", 3: "old older evicted running"} {
		w := trial.New(trial.Options{})
		w.Start("podgc", New(Options{Threshold: threshold}))
		pods := w.Server.KindNamed("pod")
		for _, p := range []struct {
			name, reason string
			phase        corev1.PodPhase
		}{{"older", "", corev1.PodFailed}, {"old", "", corev1.PodSucceeded}, {"evicted", "Evicted", corev1.PodFailed},
			{"running", "", corev1.PodRunning}} {
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
		for _, name := range []string{"old", "older", "evicted", "running"} {
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
