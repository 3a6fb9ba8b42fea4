package bubble_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// fills lists, as caches are filled, and writes when it has.
func fills(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
	for range 4 {
		if _, err := client.ConfigMaps("default").List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	for range 4 {
		_, _ = client.Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}},
			metav1.CreateOptions{})
	}
	<-ctx.Done()
	return ctx.Err()
}

// A program is not crashed while it fills its caches, when it has done nothing that a crash could
// interrupt, but at each of its writes.
func TestNoCrashWhileItFills(t *testing.T) {
	crashes := 0
	for seed := range uint64(100) {
		w := trial.New(trial.Options{Choices: sim.NewSeed(seed)})
		if err := w.Faults(map[string]int{"crash": 1, "stale": 1}); err != nil {
			t.Fatal(err)
		}
		w.Start("fills", bubble.Controller(host.Controller{Name: "fills"}, fills))
		w.Settle(trial.Limits{})
		lists := 0
		for i := range w.World.History.Records {
			r := &w.World.History.Records[i]
			switch {
			case r.Op == sim.Read:
				lists++
			case r.Op == sim.FaultHit && r.Verb == "crash":
				if crashes++; lists < 4 {
					t.Errorf("seed %d: it is crashed after %d of its lists", seed, lists)
				}
			case r.Op == sim.FaultHit && r.Verb == "restart":
				lists = 0
			}
		}
		w.Stop()
	}
	if crashes < 50 {
		t.Errorf("%d crashes in 100 schedules", crashes)
	}
}
