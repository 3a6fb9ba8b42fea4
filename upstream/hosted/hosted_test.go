package hosted_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
	"github.com/threelaws/threelaws/upstream/hosted"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
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
	apiruntime.Object
}

// hashes are those of the runs of so many schedules, with faults.
func hashes(t *testing.T, seeds int) string {
	var all strings.Builder
	for seed := range uint64(seeds) {
		w := rivals(t, sim.NewSeed(seed), map[string]int{"crash": 1, "relist": 1, "conflict": 1}, "replicaset")
		if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
			t.Errorf("seed %d: %+v %v", seed, s, w.Broken())
		}
		if n := w.Server.Len(w.Server.KindNamed("pod")); n != 6 { // both sets come by their pods
			t.Errorf("seed %d: %d pods", seed, n)
		}
		fmt.Fprintf(&all, "%d:%016x\n", seed, w.World.Hash())
		w.Stop()
	}
	return all.String()
}

// elsewhere says to the test below that it runs in a process of another one's, and how many
// schedules are wanted.
const elsewhere = "THREELAWS_HASHES"

// Runs of one schedule are one run, in another process too.
func TestOneScheduleIsOneRun(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv(elsewhere)); err == nil {
		fmt.Print(hashes(t, n))
		return
	}
	seeds, rounds := 10, 2
	if long() {
		seeds, rounds = 200, 4
	}
	want := hashes(t, seeds)
	same := func(got, where string) {
		of := strings.Fields(got)
		for i, line := range strings.Fields(want) {
			if i >= len(of) || of[i] != line {
				t.Errorf("%s: a run differs from the first of its schedule, %s", where, line)
			}
		}
	}
	for i := range rounds - 1 {
		same(hashes(t, seeds), fmt.Sprint("round ", i+2))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOneScheduleIsOneRun$")
	cmd.Env = append(os.Environ(), elsewhere+"="+strconv.Itoa(seeds))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("another process: %v\n%s", err, out)
	}
	same(string(out), "another process")
}

// What runs leave behind does not grow with their number.
func TestMemoryOfRunsIsFlat(t *testing.T) {
	runs := 300
	if long() {
		runs = 5000
	}
	early := uint64(0)
	for i := range runs {
		w := rivals(t, sim.NewSeed(uint64(i)), map[string]int{"crash": 1}, "replicaset")
		if s := w.Settle(trial.Limits{}); !s.Settled {
			t.Fatalf("run %d: %+v", i, s)
		}
		w.Stop()
		if i == runs/10 {
			early = live()
		}
	}
	if late := live(); late > early+early/10+1<<20 {
		t.Errorf("%d bytes after %d runs, %d after %d", early, runs/10, late, runs)
	} else {
		const mb = 1 << 20
		t.Logf("%.1f MiB after %d runs, %.1f MiB after %d", float64(early)/mb, runs/10, float64(late)/mb, runs)
	}
}

// live is how many bytes of the heap are in use.
func live() uint64 {
	runtime.GC()
	runtime.GC() // what has a finalizer goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
