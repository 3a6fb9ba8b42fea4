package bubble_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// No fault strikes a request for whose answer nobody waits any more: its context has ended, or its program.
func TestNoFaultStrikesWhoHasGone(t *testing.T) {
	for seed := range uint64(50) {
		w := trial.New(trial.Options{})
		w.World.SetChoices(sim.NewSeed(seed))
		if err := w.Faults(map[string]int{"error": 3, "lost": 3}); err != nil {
			t.Fatal(err)
		}
		maps, life, left := w.Server.KindNamed("cm"), 0, 0
		w.Start("a", program("a", func(ctx context.Context, cfg *rest.Config) error {
			if now := w.Server.Len(maps); now != left {
				t.Errorf("seed %d: %d were made, and when its program had returned there were %d", seed, now, left)
			}
			if life++; life > 3 {
				return waits(ctx, cfg)
			}
			client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
			early, cancel := context.WithCancel(ctx)
			go func() { _, _ = client.Nodes().List(early, metav1.ListOptions{}) }()
			go func() {
				_, _ = client.ConfigMaps("default").Create(context.Background(),
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}}, metav1.CreateOptions{})
			}()
			_, _ = client.Pods("default").List(ctx, metav1.ListOptions{})
			cancel()
			if seed%2 == 0 {
				time.Sleep(time.Second)
			}
			left = w.Server.Len(maps)
			return nil
		}))
		w.Settle(trial.Limits{Steps: 100})
		w.Stop()
	}
}
