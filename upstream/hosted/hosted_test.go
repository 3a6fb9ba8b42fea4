package hosted_test

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
	"github.com/threelaws/threelaws/upstream/hosted"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func controller(t testing.TB, name string) host.Controller {
	for _, c := range hosted.Controllers() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no controller %s", name)
	return host.Controller{}
}

// rivals are two ReplicaSets with one selector, and two orphans.
func rivals(t testing.TB, choices sim.Choices, faults map[string]int, names ...string) *trial.Trial {
	w := trial.New(trial.Options{})
	create := func(kind string, obj object) {
		_, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed(kind), Namespace: "default",
			Object: obj})
		if err != nil {
			t.Fatal(err)
		}
	}
	labels := map[string]string{"app": "x"}
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	for _, n := range []string{"a", "b"} {
		create("rs", &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: n, Namespace: "default"},
			Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(3)), Template: pod,
				Selector: &metav1.LabelSelector{MatchLabels: labels}}})
		create("pod", &corev1.Pod{Spec: pod.Spec,
			ObjectMeta: metav1.ObjectMeta{Name: "orphan-" + n, Namespace: "default", Labels: labels}})
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

type object = interface {
	metav1.Object
	runtime.Object
}

// Two runs of one schedule are one run, with faults, too, and both sets come by their pods.
func TestOneScheduleIsOneRun(t *testing.T) {
	for seed := range uint64(10) {
		var first uint64
		for i := range 2 {
			w := rivals(t, sim.NewSeed(seed), map[string]int{"crash": 1, "relist": 1, "conflict": 1}, "replicaset")
			s := w.Settle(trial.Limits{})
			if !s.Settled || w.Broken() != nil {
				t.Errorf("seed %d: %+v %v", seed, s, w.Broken())
			}
			if n := w.Server.Len(w.Server.KindNamed("pod")); n != 6 {
				t.Errorf("seed %d: %d pods", seed, n)
			}
			if h := w.World.Hash(); i == 0 {
				first = h
			} else if h != first {
				t.Errorf("seed %d: two runs differ", seed)
			}
			w.Stop()
		}
	}
}
