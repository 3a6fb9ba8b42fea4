package bubble_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// busy writes to each ConfigMap that it is told of, which it is told of then, until it has been told
// of a Secret.
func busy(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
	maps, err := client.ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer maps.Stop()
	secrets, err := client.Secrets("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer secrets.Stop()
	for {
		select {
		case e, open := <-maps.ResultChan():
			if !open {
				return ctx.Err()
			}
			c := e.Object.(*corev1.ConfigMap)
			c.Data = map[string]string{"seen": c.ResourceVersion}
			if _, err := client.ConfigMaps("default").Update(ctx, c, metav1.UpdateOptions{}); err != nil {
				return err
			}
		case <-secrets.ResultChan():
			<-ctx.Done()
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// What a program keeps itself busy with does not keep other news from it: by the default schedule
// it is told first what happened first.
func TestOldestIsToldFirst(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("busy", bubble.Controller(host.Controller{Name: "busy"}, busy))
	if s := w.Settle(trial.Limits{}); !s.Settled {
		t.Fatalf("at the beginning: %+v", s)
	}
	create := func(kind string, obj runtime.Object) {
		t.Helper()
		r := &fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed(kind), Namespace: "default", Object: obj}
		if _, err := w.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	meta := metav1.ObjectMeta{Name: "a", Namespace: "default"}
	create("cm", &corev1.ConfigMap{ObjectMeta: meta})
	create("secret", &corev1.Secret{ObjectMeta: meta})
	if s := w.Settle(trial.Limits{Steps: 1000}); !s.Settled {
		t.Errorf("it is never told of the Secret: %+v", s)
	}
}
