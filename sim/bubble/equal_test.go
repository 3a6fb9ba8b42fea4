package bubble_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// twins sends equal requests from two goroutines, and has two watches of one kind.
func twins(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	for _, name := range []string{"a", "b"} {
		named := metav1.ObjectMeta{GenerateName: "x-", Labels: map[string]string{"by": name}}
		go func() {
			for range 3 {
				_, _ = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: named}, metav1.CreateOptions{})
			}
		}()
		maps := informers.NewSharedInformerFactory(client, 0).Core().V1().ConfigMaps().Informer()
		_, _ = maps.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			_, _ = client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: named}, metav1.CreateOptions{})
		}})
		go maps.Run(ctx.Done())
	}
	return waits(ctx, cfg)
}

// A replay takes the same one of two requests or watch events that look equal.
func TestEqualRequests(t *testing.T) {
	run := func(c sim.Choices) uint64 {
		w := trial.New(trial.Options{Choices: c})
		defer w.Stop()
		w.Start("twins", program("twins", twins))
		w.Settle(trial.Limits{Steps: 500})
		return w.World.Hash()
	}
	for seed := range uint64(20) {
		r := explore.Record(explore.NewUniform(seed))
		want := run(r)
		if got := run(explore.Follow(r.Schedule())); got != want {
			t.Errorf("seed %d: a replay has the hash %016x, not %016x", seed, got, want)
		}
	}
}
