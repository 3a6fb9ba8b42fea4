package hosted_test

import (
	"fmt"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkHosted is unmodified controllers in a world of two rival ReplicaSets and twenty
// owners of three pods each, from their start to rest.
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

// own makes so many ReplicaSets and ReplicationControllers that select three pods each.
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
