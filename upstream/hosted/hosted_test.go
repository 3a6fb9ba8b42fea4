package hosted_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
	"github.com/threelaws/threelaws/upstream/hosted"
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

// rivals returns a world of two ReplicaSets with the same selector, and two orphans.
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

func hashes(t *testing.T, seeds int) string {
	var all strings.Builder
	for seed := range uint64(seeds) {
		w := rivals(t, sim.NewSeed(seed), map[string]int{"crash": 1, "relist": 1, "conflict": 1}, "replicaset")
		if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
			t.Errorf("seed %d: %+v %v", seed, s, w.Broken())
		}
		if n := w.Server.Len(w.Server.KindNamed("pod")); n != 6 { // each set has all its pods
			t.Errorf("seed %d: %d pods", seed, n)
		}
		fmt.Fprintf(&all, "%d:%016x\n", seed, w.World.Hash())
		w.Stop()
	}
	return all.String()
}

// elsewhere is the variable of a test process that the test below starts. Its value is the number of schedules.
const elsewhere = "THREELAWS_HASHES"

// Runs of one schedule are equal, also in another process.
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
				t.Errorf("%s: a run differs from the first run of its schedule, %s", where, line)
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

// The memory that remains after runs does not grow with their number.
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

func live() uint64 {
	runtime.GC()
	runtime.GC() // the second collection frees objects with finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func init() {
	klog.SetLogger(logr.Discard()) // upstream's controllers log a lot
}

// twofold lists worlds in which upstream's garbage collector writes an Event about an owner in an impossible namespace,
// while it lists and watches every kind.
var twofold = []string{
	"bugs/d25-cluster-scoped-object-of-a-namespaced-owner",
	"orphan/cluster-scoped-object-is-known-from-its-dependent",
	"orphan/cluster-scoped-object-names-a-namespaced-owner",
}

// Two runs of one schedule are equal, also with faults: 40 schedules of each world, or 300 for each strategy with SOAK.
func TestCollectorsScheduleIsOneRun(t *testing.T) {
	runs, strategies := 40, []explore.Strategy{explore.Random}
	if long() {
		runs, strategies = enough, append(strategies, explore.Mixed)
	}
	all, _ := worlds(t)
	seen := 0
	for _, name := range twofold {
		for _, w := range all {
			if w.name != name {
				continue
			}
			seen++
			for _, s := range strategies {
				if err := w.twice(t, s, runs); err != nil {
					t.Errorf("%s: %v", w.name, err)
				}
			}
		}
	}
	if seen != len(twofold) {
		t.Errorf("of the %d listed worlds, %d exist", len(twofold), seen)
	}
}

func (w *world) twice(t *testing.T, by explore.Strategy, runs int) error {
	p := &scenarios.Script{File: w.file, Registry: inTheirPlace(), Until: w.until, Faults: w.options(t).Faults}
	r, err := explore.Config{New: func() explore.Runner { return p.Run }, Runs: runs, Seed: 1, Strategy: by,
		Workers: 1, All: true, Double: 1}.Run(t.Context())
	if err == nil && r.Doubled != runs {
		err = fmt.Errorf("of %d schedules %d were run twice", runs, r.Doubled)
	}
	return err
}

// BenchmarkHosted runs unmodified controllers until they settle, in a world of two rival ReplicaSets and twenty owners
// of three pods each.
func BenchmarkHosted(b *testing.B) {
	for _, names := range [][]string{{"replicaset", "replication"},
		{"replicaset", "replication", "deployment", "statefulset", "job", "garbagecollector"}} {
		b.Run(fmt.Sprint(len(names)), func(b *testing.B) {
			steps := 0
			for b.Loop() {
				w := rivals(b, sim.NewSeed(1), nil, names...)
				own(b, w, 20)
				s := w.Settle(trial.Limits{})
				if !s.Settled || w.Broken() != nil {
					b.Fatalf("%+v %v", s, w.Broken())
				}
				steps += w.World.Steps()
				w.Stop()
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
		})
	}
}

func own(b *testing.B, w *trial.Trial, n int) {
	for i := range n {
		labels := map[string]string{"app": fmt.Sprint("own-", i)}
		pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		meta := metav1.ObjectMeta{Name: labels["app"], Namespace: "default"}
		var obj object = &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(3)),
			Template: pod, Selector: &metav1.LabelSelector{MatchLabels: labels}}}
		if i%2 == 1 {
			obj = &corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{
				Replicas: new(int32(3)), Template: &pod, Selector: labels}}
		}
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindOf(obj), Namespace: "default",
			Object: obj}); err != nil {
			b.Fatal(err)
		}
	}
}

// idle lists the controllers of kube-controller-manager that start and do nothing here, with the reason.
var idle = map[string]string{
	"certificatesigningrequest-signing-controller":                   "it is given no key to sign with",
	"cloud-node-lifecycle-controller":                                "there is no cloud",
	"node-route-controller":                                          "there is no cloud",
	"service-lb-controller":                                          "there is no cloud",
	"node-ipam-controller":                                           "it is not told to give nodes addresses",
	"serviceaccount-token-controller":                                "it is given no key to sign with",
	"kube-apiserver-serving-clustertrustbundle-publisher-controller": "its feature gate is off by default",
	"podcertificaterequest-cleaner-controller":                       "its feature gate is off by default",
	"podgroup-protection-controller":                                 "its feature gate is off by default",
	"resourcepoolstatusrequest-controller":                           "its feature gate is off by default",
	"storage-version-migrator-controller":                            "its feature gate is off by default",
	"storageversion-garbage-collector-controller":                    "its feature gate is off by default",
}

// outside lists the controllers that cannot run in a bubble. They watch a directory for volume plugins, so one of their
// goroutines waits for the real machine, and the program never settles.
var outside = []string{"persistentvolume-attach-detach-controller", "selinux-warning-controller"}

// Every controller of kube-controller-manager's list starts in a world, and fills its caches. The idle ones are known,
// with the reason.
func TestEveryControllerStarts(t *testing.T) {
	descriptors := app.NewControllerDescriptors()
	for _, name := range slices.Concat(slices.Collect(maps.Keys(idle)), outside) {
		if descriptors[name] == nil {
			t.Errorf("%s does not exist any more", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(descriptors)) {
		if slices.Contains(outside, name) {
			continue
		}
		w := rivals(t, sim.NewSeed(1), nil)
		as := host.Controller{Name: name, For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")}
		w.Start(name, hosted.Controller(name, as))
		if s := w.Settle(trial.Limits{Steps: 20_000}); !s.Settled || w.Broken() != nil {
			t.Errorf("%s: %+v, %v", name, s, w.Broken())
		}
		asks := 0
		for i := range w.World.History.Len() {
			switch r := w.World.History.At(i); {
			case r.Process != name:
			case r.Op == sim.FaultHit:
				t.Errorf("%s ended: %s", name, r.Reason)
			case r.Op == sim.Read || r.Op == sim.Commit:
				asks++
			}
		}
		if (asks == 0) != (idle[name] != "") {
			t.Errorf("%s sent %d requests, although it is listed as idle because %q", name, asks, idle[name])
		}
		w.Stop()
	}
}
