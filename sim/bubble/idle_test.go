package bubble_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// tries reads a ConfigMap until it is there, as often as client-go's queues try a key again, and
// says each time in an event that it was not. Then it creates a Secret.
func tries(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 1000*time.Second) {
		if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "go", metav1.GetOptions{}); err == nil {
			break
		}
		_, _ = client.CoreV1().Events("default").Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{GenerateName: "in-vain-", Namespace: "default"},
			InvolvedObject: corev1.ObjectReference{Namespace: "default"}}, metav1.CreateOptions{})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, _ = client.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "done", Namespace: "default"}}, metav1.CreateOptions{})
	<-ctx.Done()
	return ctx.Err()
}

// A key that was tried so often that it waits for a quarter of an hour is tried once more, before
// the program is at rest, when something has changed; one that is tried in vain for ever lets the
// world come to rest.
func TestLateRetryIsWaitedFor(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	create := func(name string) {
		t.Helper()
		_, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed("cm"), Namespace: "default",
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}})
		if err != nil {
			t.Fatal(err)
		}
		if s := w.Settle(trial.Limits{}); !s.Settled {
			t.Fatalf("after %s: %+v", name, s)
		}
	}
	w.Start("tries", bubble.Controller(host.Controller{Name: "tries"}, tries))
	for _, name := range []string{"a", "b", "c", "go"} {
		create(name)
		events := w.Server.Len(w.Server.KindNamed("ev"))
		if there := w.Server.Len(w.Server.KindNamed("secret")) == 1; events < 16 || there != (name == "go") {
			t.Errorf("after %s, at %v: %d tries in vain, done: %v", name, w.World.Clock.Elapsed(), events, there)
		}
	}
}
