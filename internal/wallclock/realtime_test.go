package wallclock_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/wallclock"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// waiter returns a controller that requeues each ConfigMap after some time, and signals when it reconciles it again.
func waiter(after time.Duration, again chan<- time.Time) host.Controller {
	return host.Controller{
		Name: "waiter", For: configMaps,
		Routes: []host.Route{{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(*corev1.ConfigMap).Name)
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			waited := map[string]bool{}
			return host.SyncFunc(func(_ context.Context, key string) error {
				if waited[key] {
					again <- env.Now()
					return nil
				}
				waited[key] = true
				env.Queue.AddAfter(key, after)
				return nil
			})
		},
	}
}

// world returns a function that creates objects in a cluster with the controller, and the cluster's runner.
func world(t *testing.T, c host.Controller, hurry bool) (create func(name string), r *wallclock.Runner) {
	var mu sync.Mutex
	lock := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	server := fakeapi.New(fakeapi.Options{})
	w := trial.New(trial.Options{Server: server})
	w.Start(c.Name, c)
	r = wallclock.New(w, lock, hurry)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { r.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
		w.Stop()
	})
	create = func(name string) {
		lock(func() {
			resp := r.Do(&fakeapi.Request{Verb: fakeapi.Create, Kind: server.Kind(configMaps), Namespace: "default",
				Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, UserAgent: "kubectl/v1.36"})
			if resp.Err != nil {
				t.Error(resp.Err)
			}
		})
	}
	return create, r
}

// Timers wait in real time.
func TestTimersWait(t *testing.T) {
	const after = 50 * time.Millisecond
	again := make(chan time.Time, 1)
	create, r := world(t, waiter(after, again), false)
	began := time.Now()
	create("a")
	now := <-again
	if took := time.Since(began); took < after {
		t.Errorf("a timer of %v fired after %v", after, took)
	}
	if off := r.Now().Sub(now).Abs(); off > 10*time.Second {
		t.Errorf("the world's clock is off by %v", off)
	}
}

// With hurry, half an hour passes at once, and the clock shows it.
func TestTimersDoNotWaitInAHurry(t *testing.T) {
	again := make(chan time.Time, 1)
	create, r := world(t, waiter(30*time.Minute, again), true)
	began := time.Now()
	create("a")
	now := <-again
	if now.Sub(began) < 30*time.Minute || r.Now().Before(began.Add(30*time.Minute)) {
		t.Errorf("the controller's clock shows %v after %v", now, began)
	}
}

// With hurry, a controller that polls forever does not keep the processor busy.
func TestHurryHasAHorizon(t *testing.T) {
	again := make(chan time.Time, 1)
	create, _ := world(t, waiter(2*time.Hour, again), true)
	create("a")
	create("b")
	select {
	case at := <-again:
		t.Errorf("time went to %v without a request", at)
	case <-time.After(100 * time.Millisecond):
	}
}

// Writes by a client with the name of a controller are not attributed to the controller.
func TestClientsWithNamesOfControllers(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{})
	w := trial.New(trial.Options{Server: server})
	defer w.Stop()
	w.Start("waiter", waiter(time.Hour, nil))
	r := wallclock.New(w, func(f func()) { f() }, false)
	for _, agent := range []string{"waiter/v1", "other/v1"} {
		resp := r.Do(&fakeapi.Request{Verb: fakeapi.Create, Kind: server.Kind(configMaps), Namespace: "default",
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, UserAgent: agent})
		if resp.Err != nil {
			t.Fatal(resp.Err)
		}
	}
	var who []string
	for _, rec := range w.World.History.Records {
		if rec.Op == sim.Commit && rec.Object.Kind == "ConfigMap" {
			who = append(who, rec.Process)
		}
	}
	if want := []string{"waiter (client)", "other"}; !slices.Equal(who[max(0, len(who)-2):], want) {
		t.Errorf("written by %q, want %q at the end", who, want)
	}
}
