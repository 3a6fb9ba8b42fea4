package hosted_test

import (
	"testing"
	"time"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
	"github.com/threelaws/threelaws/upstream/hosted"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var _ = scenarios.Library
var _ = cli.Builtin

func controller(t testing.TB, name string) host.Controller {
	for _, c := range hosted.Controllers() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no controller %s", name)
	return host.Controller{}
}

func TestNames(t *testing.T) {
	for _, c := range hosted.Controllers() {
		t.Log(c.Name)
	}
}

func ptr[T any](v T) *T { return &v }

func world(t testing.TB, choices sim.Choices, faults map[string]int, names ...string) *trial.Trial {
	w := trial.New(trial.Options{})
	create := func(kind string, obj fakeobj) {
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed(kind), Namespace: "default", Object: obj}); err != nil {
			t.Fatal(err)
		}
	}
	tmpl := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	for _, n := range []string{"a", "b"} {
		create("rs", &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: n, Namespace: "default"}, Spec: appsv1.ReplicaSetSpec{Replicas: ptr(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, Template: tmpl}})
		create("pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orphan-" + n, Namespace: "default", Labels: tmpl.Labels}, Spec: tmpl.Spec})
	}
	w.World.SetChoices(choices)
	if err := w.Faults(faults); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		w.Start(n, controller(t, n))
	}
	return w
}

type fakeobj = interface {
	metav1.Object
	runtime.Object
}

func TestReplicaSets(t *testing.T) {
	began := time.Now()
	steps, bad := 0, 0
	for seed := range uint64(20) {
		var first uint64
		for i := range 2 {
			w := world(t, sim.NewSeed(seed), map[string]int{"crash": 1, "relist": 1, "conflict": 1}, "replicaset")
			s := w.Settle(trial.Limits{})
			if !s.Settled || w.Broken() != nil {
				t.Errorf("seed %d: %+v %v", seed, s, w.Broken())
			}
			if n := w.Server.Len(w.Server.KindNamed("pod")); n != 6 {
				t.Errorf("seed %d: %d pods", seed, n)
			}
			steps += s.Steps
			if h := w.World.Hash(); i == 0 {
				first = h
			} else if h != first {
				bad++
			}
			w.Stop()
		}
	}
	t.Logf("%d steps, %.0f a second, %d differ", steps, float64(steps)/time.Since(began).Seconds(), bad)
}
