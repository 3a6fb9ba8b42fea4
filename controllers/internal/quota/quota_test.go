package quota

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// writes counts the writes of a status.
type writes struct {
	host.Client
	n int
}

func (w *writes) UpdateStatus(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	w.n++
	return obj, nil
}

// The status of a quota without limits is written once, so that it has its fields hard and used.
func TestStatusIsReportedOnce(t *testing.T) {
	none := corev1.ResourceList{}
	for _, c := range []struct {
		status corev1.ResourceQuotaStatus
		want   int
	}{
		{corev1.ResourceQuotaStatus{}, 1}, {corev1.ResourceQuotaStatus{Hard: none}, 1},
		{corev1.ResourceQuotaStatus{Used: none}, 1}, {corev1.ResourceQuotaStatus{Hard: none, Used: none}, 0},
	} {
		w, quotas := &writes{}, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "q"}, Status: c.status}
		if err := quotas.Add(q); err != nil {
			t.Fatal(err)
		}
		r := &reconciler{env: &host.Env{Client: w, Kinds: func() []*fakeapi.Kind { return nil }}, quotas: quotas}
		if err := r.Sync(t.Context(), "ns/q"); err != nil || w.n != c.want {
			t.Errorf("%+v: written %d times, error %v", c.status, w.n, err)
		}
	}
}

// A pod that stays terminating counts until twice its grace period is over, whatever the order of the pods.
func TestEachIsWrittenOffInTime(t *testing.T) {
	for _, graces := range [][2]int64{{10, 60}, {60, 10}} {
		w := trial.New(trial.Options{})
		ask := func(kind, name string, r fakeapi.Request) {
			t.Helper()
			r.Kind, r.Namespace, r.Name = w.Server.KindNamed(kind), "default", name
			if resp := w.Cluster.As("user", &r); resp.Err != nil {
				t.Fatal(resp.Err)
			}
		}
		ask("quota", "q", fakeapi.Request{Verb: fakeapi.Create, Object: &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"},
			Spec: corev1.ResourceQuotaSpec{
				Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("9")}}}})
		w.Start("resourcequota", New())
		w.Settle(trial.Limits{For: time.Second})
		for i, name := range []string{"a", "b"} {
			ask("pod", name, fakeapi.Request{Verb: fakeapi.Create, Object: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
				Spec: corev1.PodSpec{NodeName: "n", TerminationGracePeriodSeconds: &graces[i],
					Containers: []corev1.Container{{Name: "c", Image: "img:1"}}}}})
			ask("pod", name, fakeapi.Request{Verb: fakeapi.Delete})
		}
		for _, c := range []struct {
			pass time.Duration
			want int64
		}{{15 * time.Second, 2}, {10 * time.Second, 1}, {80 * time.Second, 1}, {20 * time.Second, 0}} {
			w.Settle(trial.Limits{For: c.pass})
			q := w.Server.Lookup(w.Server.KindNamed("quota"), "default", "q").(*corev1.ResourceQuota)
			if n := q.Status.Used[corev1.ResourcePods]; n.Value() != c.want {
				t.Errorf("grace periods %v: %d pods are used at %v, want %d", graces, n.Value(), w.World.Clock.Elapsed(),
					c.want)
			}
		}
		w.Stop()
	}
}
