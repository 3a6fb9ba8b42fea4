package threelaws_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// builtin finds a controller of the table by its full name.
func builtin(name string) host.Controller {
	for _, c := range controllers.Builtin() {
		if controllers.FullName(&c) == name {
			return c
		}
	}
	panic("no controller " + name)
}

// judged attaches all laws to a cluster's world.
func judged(c *host.Cluster) *law.Judge {
	j := law.NewJudge(nil, law.All())
	for _, p := range c.Processes() {
		j.AddSubject(scenarios.Subject(p.Name, p.Controller()))
	}
	c.World().Observers = append(c.World().Observers, j)
	return j
}

func replicaSet(name, app string, replicas int32) *appsv1.ReplicaSet {
	l := map[string]string{"app": app}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: l},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: l}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		},
	}
}

func create(b testing.TB, c *host.Cluster, obj runtime.Object) {
	b.Helper()
	k := c.Server().KindOf(obj)
	m := obj.(metav1.Object)
	if r := c.As("user", &fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj}); r.Err != nil {
		b.Fatal(r.Err)
	}
}

// settle steps until the world is quiet.
func settle(b testing.TB, c *host.Cluster, limit int) {
	b.Helper()
	for range limit {
		if !c.World().Step() {
			return
		}
	}
	b.Fatalf("not quiet after %d steps", limit)
}

func stop(c *host.Cluster) {
	for _, p := range c.Processes() {
		p.Crash(false)
	}
}

// BenchmarkOverlap is two overlapping ReplicaSets that are scaled up and down,
// under random schedules, on the full API server: the stepped host's steps/s
// and allocs/step, with all laws and with none.
func BenchmarkOverlap(b *testing.B) {
	for _, laws := range []bool{true, false} {
		b.Run(fmt.Sprintf("laws=%v", laws), func(b *testing.B) {
			b.ReportAllocs()
			steps := 0
			for i := 0; b.Loop(); i++ {
				steps += overlap(b, uint64(i), laws)
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
		})
	}
}

// overlap is one run of BenchmarkOverlap from a cold start.
func overlap(b *testing.B, seed uint64, laws bool) int {
	c := host.NewCluster(sim.New(sim.NewSeed(seed)), fakeapi.New(fakeapi.Options{}))
	create(b, c, replicaSet("web-a", "web", 2))
	create(b, c, replicaSet("web-b", "web", 3))
	c.Start("replicaset", builtin("replicaset@controllerref"))
	c.Start("garbagecollector", builtin("garbagecollector"))
	var j *law.Judge
	if laws {
		j = judged(c)
	}
	settle(b, c, 100_000)
	for round := range 10 {
		scale(b, c, "web-a", 2+3*(round%2))
		scale(b, c, "web-b", 3-2*(round%2))
		settle(b, c, 100_000)
	}
	if j != nil && j.First() != nil {
		b.Fatalf("%s: %s", j.First().Law.Name, j.First().Text)
	}
	stop(c)
	return c.World().Steps()
}

func scale(b testing.TB, c *host.Cluster, name string, replicas int) {
	b.Helper()
	k := c.Server().KindNamed("rs")
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if r := c.As("user", &fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Namespace: "default", Name: name, PatchType: "application/merge-patch+json", Patch: patch}); r.Err != nil {
		b.Fatal(r.Err)
	}
}
