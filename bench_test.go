package threelaws_test

import (
	"fmt"
	goruntime "runtime"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// builtin returns the controller of the table with this full name.
func builtin(name string) host.Controller {
	for _, c := range controllers.Builtin() {
		if c.FullName() == name {
			return c
		}
	}
	panic("no controller " + name)
}

func replicaSet(name, app string, replicas int32) *appsv1.ReplicaSet {
	l := map[string]string{"app": app}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: l},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: l},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		},
	}
}

func create(b testing.TB, t *trial.Trial, obj runtime.Object) {
	b.Helper()
	m := obj.(metav1.Object)
	if _, err := t.Request(
		&fakeapi.Request{Verb: fakeapi.Create, Kind: t.Server.KindOf(obj), Namespace: m.GetNamespace(),
			Name: m.GetName(), Object: obj}); err != nil {
		b.Fatal(err)
	}
}

// settle runs a trial until it has settled. A violation fails the benchmark.
func settle(b testing.TB, t *trial.Trial) {
	b.Helper()
	if how := t.Settle(trial.Limits{Writes: 1_000_000, Steps: 10_000_000}); !how.Settled {
		b.Fatalf("not settled after %d steps", how.Steps)
	}
	if broken := t.Broken(); broken != nil {
		b.Fatal(broken)
	}
}

// BenchmarkOverlap scales two overlapping ReplicaSets up and down, under random schedules, on the full API server. It
// measures steps/s and allocs/step of the stepped host, with all laws and without laws.
func BenchmarkOverlap(b *testing.B) {
	for _, laws := range []bool{true, false} {
		b.Run(fmt.Sprintf("laws=%v", laws), func(b *testing.B) {
			b.ReportAllocs()
			steps, before := 0, mallocs()
			for i := 0; b.Loop(); i++ {
				steps += overlap(b, uint64(i), laws)
			}
			b.ReportMetric(float64(mallocs()-before)/float64(steps), "allocs/step")
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
		})
	}
}

// mallocs returns the number of objects that the program has allocated so far.
func mallocs() uint64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.Mallocs
}

// overlap runs BenchmarkOverlap once from a cold start.
func overlap(b *testing.B, seed uint64, laws bool) int {
	o := trial.Options{Choices: sim.NewSeed(seed)}
	if !laws {
		o.Laws = []*law.Law{}
	}
	c := trial.New(o)
	create(b, c, replicaSet("web-a", "web", 2))
	create(b, c, replicaSet("web-b", "web", 3))
	c.Start("replicaset", builtin("replicaset@current"))
	c.Start("garbagecollector", builtin("garbagecollector"))
	settle(b, c)
	for round := range 10 {
		scale(b, c, "web-a", 2+3*(round%2))
		scale(b, c, "web-b", 3-2*(round%2))
		settle(b, c)
	}
	steps := c.World.Steps()
	c.Recycle()
	return steps
}

// BenchmarkSettle creates ReplicaSets of 30 Pods each, with all laws and a history of only the last steps. It measures
// the time of a step in a small and in a large world, and the memory that the settled world uses.
func BenchmarkSettle(b *testing.B) {
	for _, sets := range []int{33, 1000} {
		b.Run(fmt.Sprintf("pods=%d", sets*30), func(b *testing.B) {
			steps, weight, before := 0, uint64(0), mallocs()
			for b.Loop() {
				empty := heap()
				c := trial.New(trial.Options{Choices: sim.NewSeed(1)})
				c.World.History.Forget = 1000
				for i := range sets {
					name := fmt.Sprintf("web-%03d", i)
					create(b, c, replicaSet(name, name, 30))
				}
				c.Start("replicaset", builtin("replicaset@current"))
				c.Start("garbagecollector", builtin("garbagecollector"))
				settle(b, c)
				if n := c.Server.Len(c.Server.KindNamed("pod")); n != sets*30 {
					b.Fatalf("%d pods", n)
				}
				weight = heap() - empty
				steps += c.World.Steps()
				c.Stop()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
			b.ReportMetric(float64(mallocs()-before)/float64(steps), "allocs/step")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
			b.ReportMetric(float64(weight)/(1<<20), "MiB")
		})
	}
}

// heap returns the size of reachable memory in bytes.
func heap() uint64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}

func scale(b testing.TB, t *trial.Trial, name string, replicas int) {
	b.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := t.Request(
		&fakeapi.Request{Verb: fakeapi.Patch, Kind: t.Server.KindNamed("rs"), Namespace: "default", Name: name,
			PatchType: "application/merge-patch+json", Patch: patch}); err != nil {
		b.Fatal(err)
	}
}
