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

// readsBoth reads events in both of their groups, at one time and in the order of a map, and writes
// down which of them it was answered first.
func readsBoth(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	answers := make(chan string, 2)
	for group, read := range map[string]func() error{
		"core": func() error {
			_, err := client.CoreV1().Events("").List(ctx, metav1.ListOptions{})
			return err
		},
		"events.k8s.io": func() error {
			_, err := client.EventsV1().Events("").List(ctx, metav1.ListOptions{})
			return err
		},
	} {
		go func() {
			if read() == nil {
				answers <- group
			}
		}()
	}
	select {
	case first := <-answers:
		_, _ = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: first, Namespace: "default"}}, metav1.CreateOptions{})
	case <-ctx.Done():
	}
	<-ctx.Done()
	return ctx.Err()
}

// Requests for one kind in two of its versions, which are otherwise the same, are told apart: the
// schedule says which is answered, whoever of them asked first.
func TestTwoVersionsAreTwoRequests(t *testing.T) {
	for seed := range uint64(20) {
		runs := map[uint64]bool{}
		for range 10 {
			w := trial.New(trial.Options{})
			w.World.SetChoices(sim.NewSeed(seed))
			w.Start("both", bubble.Controller(host.Controller{Name: "both"}, readsBoth))
			if s := w.Settle(trial.Limits{}); !s.Settled {
				t.Fatalf("%+v", s)
			}
			runs[w.World.Hash()] = true
			w.Stop()
		}
		if len(runs) != 1 {
			t.Errorf("seed %d: ten runs of one schedule are %d", seed, len(runs))
		}
	}
}
