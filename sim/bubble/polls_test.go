package bubble_test

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// polls looks every 15 s for a claim that is not there.
func polls(ctx context.Context, cfg *rest.Config) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	for {
		_, err := client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "claim", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(15 * time.Second):
		}
	}
}

// A program that polls for an object that is not there has settled, after ten minutes.
func TestPollingIsRest(t *testing.T) {
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("polls", bubble.Controller(host.Controller{Name: "polls"}, polls))
	if how := w.Settle(trial.Limits{Steps: 5000}); !how.Settled || how.At < 10*time.Minute || how.At > 11*time.Minute {
		t.Errorf("%+v", how)
	}
}
