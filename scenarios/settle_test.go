package scenarios_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// restless is a registry with a controller whose sync always requeues its key, without writes or with a write now and
// then.
func restless(sync func(env *host.Env, key string) error) *scenarios.Registry {
	g := registry()
	rs := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	g.Controllers = append(g.Controllers, host.Controller{
		Name: "restless", Era: "v1", For: rs,
		New: func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(_ context.Context, key string) error { return sync(env, key) })
		},
		Routes: []host.Route{{Kind: rs, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/web-a")
			}
		}}},
	})
	return g
}

// A world that keeps running without writes does not settle. The file reports what ran, and memory stays bounded.
func TestSettleEndsWithoutWrites(t *testing.T) {
	again := func(env *host.Env, key string) error { env.Queue.Add(key); return nil }
	fails := func(*host.Env, string) error { return errors.New("no") }
	for name, sync := range map[string]func(*host.Env, string) error{"requeues": again, "fails": fails} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res := scenarios.Interpret(parse(t, "controllers restless\napply world.yaml\nsettle\n"),
				scenarios.Options{Registry: restless(sync)})
			runtime.ReadMemStats(&after)
			if res.ExitCode != scenarios.ExitNotSettled || len(res.Errors) != 1 {
				t.Fatalf("exit code %d: %v", res.ExitCode, res.Errors)
			}
			text := res.Errors[0].Error()
			if !strings.Contains(text, "no write in 20020 steps: rs/web-a is synced") || strings.Contains(text, "\n") {
				t.Errorf("error is %q", text)
			}
			if res.Page == nil || len(res.Page.Lines) > 50 {
				t.Errorf("page is %+v", res.Page)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 2000 {
				t.Errorf("%d MB were allocated", mb)
			}
		})
	}
}

// Explored runs end sooner, each by itself, and have their own exit code.
func TestExploredRunsEndWithoutWrites(t *testing.T) {
	g := restless(func(env *host.Env, key string) error { env.Queue.Add(key); return nil })
	x, err := scenarios.Explore(t.Context(), parse(t, "controllers restless\napply world.yaml\nsettle\n"), -1, g,
		scenarios.ExploreOptions{Schedules: 3})
	if err != nil {
		t.Fatal(err)
	}
	if x.Unsettled != 3 || x.Failed != 0 {
		t.Errorf("came to\n%s", x.Text())
	}
}
