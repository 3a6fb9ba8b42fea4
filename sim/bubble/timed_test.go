package bubble_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// clocked is a controller of ConfigMaps with the world's time, and a world with one.
func clocked(t *testing.T, made func(), sync func(env *host.Env, key string) error) *trial.Trial {
	t.Helper()
	maps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	c := bubble.Timed(host.Controller{
		Name: "clocked", For: maps,
		Routes: []host.Route{{Kind: maps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(metav1.Object).GetName())
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			made()
			return host.SyncFunc(func(_ context.Context, key string) error { return sync(env, key) })
		},
	})
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("clocked", c)
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindOf(m), Namespace: "default", Name: "a",
		Object: m}); err != nil {
		t.Fatal(err)
	}
	return w
}

// The time of day is the world's in New and in each sync, after waits and after a crash; a sync that sleeps ends.
func TestTimed(t *testing.T) {
	var made, seen []time.Duration
	w := clocked(t, func() { made = append(made, time.Since(sim.Epoch)) }, func(env *host.Env, key string) error {
		if at := time.Since(sim.Epoch); len(seen) < 3 {
			seen = append(seen, at)
			env.Queue.AddAfter(key, time.Hour)
		}
		time.Sleep(time.Millisecond)
		return nil
	})
	if how := w.Settle(trial.Limits{}); !how.Settled {
		t.Fatalf("%+v", how)
	}
	w.World.Do("crash", func() { w.Cluster.Process("clocked").Crash(true) })
	w.Settle(trial.Limits{})
	for i, at := range seen {
		if d := at - time.Duration(i)*time.Hour; d < 0 || d > time.Second {
			t.Errorf("sync %d was at %s", i, at)
		}
	}
	if len(seen) != 3 || len(made) != 2 || made[0] != 0 || made[1] < 2*time.Hour {
		t.Errorf("syncs at %v, made at %v", seen, made)
	}
}

// A sync that panics breaks never-panic; one that waits for itself is told at once.
func TestTimedEnds(t *testing.T) {
	w := clocked(t, func() {}, func(*host.Env, string) error { panic("no luck") })
	w.Settle(trial.Limits{})
	if b := w.Broken(); b == nil || b.Law.Name != "never-panic" || !strings.Contains(b.Text, "no luck") {
		t.Errorf("broken: %v", b)
	}
	w = clocked(t, func() {}, func(*host.Env, string) error {
		<-make(chan int)
		return errors.New("it goes on")
	})
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(error).Error(), "waits") {
			t.Errorf("told: %v", r)
		}
	}()
	w.Settle(trial.Limits{})
	t.Error("it settled")
}
