package bubble_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// Of a program that is killed everything that goes by its context has stopped, however many goroutines
// tell each other of it, before a request of it fails, be that one that goes by the context itself; and what
// it asks meanwhile is not sent.
func TestContextEndsBeforeRequestsFail(t *testing.T) {
	background := func(context.Context) context.Context { return context.Background() }
	for name, by := range map[string]func(context.Context) context.Context{
		"a request that does not go by the context": background,
		"one that does": func(ctx context.Context) context.Context { return ctx },
	} {
		t.Run(name, func(t *testing.T) { endsFirst(t, by) })
	}
}

func endsFirst(t *testing.T, by func(context.Context) context.Context) {
	var stopped, early bool
	var late error
	run := func(ctx context.Context, cfg *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
		create := func(name string) error {
			_, err := maps.Create(by(ctx), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
				metav1.CreateOptions{})
			return err
		}
		told := ctx.Done()
		for range 20 {
			from, to := told, make(chan struct{})
			go func() { <-from; runtime.Gosched(); close(to) }()
			told = to
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			<-told
			stopped = true
			late = create("late")
		}()
		for create("x") == nil {
			time.Sleep(time.Second)
		}
		early = !stopped
		<-done
		return nil
	}
	w := trial.New(trial.Options{})
	w.Start("a", bubble.Controller(host.Controller{Name: "a"}, run))
	w.Cluster.Process("a").Crash(false)
	w.Stop()
	if early || !stopped {
		t.Errorf("its request failed before its context's end was known (%v, %v)", early, stopped)
	}
	if n := w.Server.Len(w.Server.KindNamed("cm")); late == nil || n != 0 {
		t.Errorf("what it asked when it was over was answered with %v; there are %d", late, n)
	}
}
