package bubble_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// A program that polls for an object that is not there has settled, after twenty minutes.
func TestPollingIsRest(t *testing.T) {
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("polls", bubble.Controller(host.Controller{Name: "polls"}, polls))
	if how := w.Settle(trial.Limits{Steps: 5000}); !how.Settled || how.At < 20*time.Minute || how.At > 21*time.Minute {
		t.Errorf("%+v", how)
	}
}

// A retry after the longest back-off of client-go's queues is waited for, though a Lease is renewed meanwhile.
func TestLongestBackOffIsWaitedFor(t *testing.T) {
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("retries", bubble.Controller(host.Controller{Name: "retries"}, func(ctx context.Context, cfg *rest.Config) error {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		go polls(ctx, cfg) // its error is that of the end
		time.Sleep(1000 * time.Second)
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late", Namespace: "default"}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}))
	w.Settle(trial.Limits{Steps: 5000})
	if w.Server.Lookup(w.Server.KindNamed("configmap"), "default", "late") == nil {
		t.Error("the world settled before the retry")
	}
}
