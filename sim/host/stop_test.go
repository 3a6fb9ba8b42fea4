package host

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Worlds that are over leave no goroutine, wherever their syncs were.
func TestStopLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for n := range 200 {
		c := newToyCluster(t, sim.Zero{}, 2)
		c.Start("toy", toyController(false))
		c.Start("other", toyController(false))
		for range n % 20 {
			c.world.Step()
		}
		c.Stop()
		c.Stop()
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before 200 worlds, %d after", before, after)
	}
}

// beside is a controller whose sync makes its call on a goroutine of its own
// and waits for it.
func beside(told chan<- any) Controller {
	ctl := toyController(false)
	ctl.New = func(env *Env) Reconciler {
		env.Informer(podGVK)
		env.Informer(configMapGVK)
		return SyncFunc(func(ctx context.Context, _ string) error {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { told <- recover() }()
				env.Client.Get(ctx, podGVK, "default", "x")
			}()
			<-done
			return nil
		})
	}
	return ctl
}

// A call from a goroutine is refused by that name, though the sync waits for it
// and no other runs.
func TestCallFromAGoroutine(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	told := make(chan any, 100)
	c.Start("toy", beside(told))
	for len(told) == 0 && c.world.Step() {
	}
	select {
	case r := <-told:
		text, _ := r.(string)
		for _, want := range []string{"toy made an API call outside a sync (get)",
			"from a goroutine that its Sync started", "bubble.Concurrent"} {
			if !strings.Contains(text, want) {
				t.Errorf("recovered %v, want %q in it", r, want)
			}
		}
	default:
		t.Error("no sync was run")
	}
}

// A request without a kind is answered by name, for the user and in a sync.
func TestRequestWithoutAKind(t *testing.T) {
	const want = "the request names no kind: its Kind is nil, and the server has no kind confgmap; did you mean " +
		"ConfigMap?"
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	resp := c.As("user",
		&fakeapi.Request{Verb: fakeapi.Get, Kind: c.server.KindNamed("confgmap"), Namespace: "default", Name: "x"})
	if resp.Err == nil || resp.Err.ErrStatus.Message != want {
		t.Errorf("the user is told %v", resp.Err)
	}
	var got error
	ctl := toyController(false)
	ctl.New = func(env *Env) Reconciler {
		env.Informer(podGVK)
		env.Informer(configMapGVK)
		return SyncFunc(func(ctx context.Context, _ string) error {
			_, got = env.Client.Do(ctx,
				&fakeapi.Request{Verb: fakeapi.Get, Kind: c.server.KindNamed("confgmap"), Name: "x"})
			return nil
		})
	}
	c.Start("toy", ctl)
	run(t, c.world, 1000)
	if got == nil || got.Error() != want {
		t.Errorf("the sync is told %v", got)
	}
}
