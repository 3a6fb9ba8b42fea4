package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// unsettled returns a registry with a controller whose sync always requeues its key.
func unsettled(sync func(env *host.Env, key string) error) *scenarios.Registry {
	g := registry()
	rs := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	g.Controllers = append(g.Controllers, host.Controller{
		Name: "unsettled", Era: "v1", For: rs,
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

// A world that runs forever without writes does not settle. The output says what was running, and memory stays bounded.
func TestSettleEndsWithoutWrites(t *testing.T) {
	again := func(env *host.Env, key string) error { env.Queue.Add(key); return nil }
	fails := func(*host.Env, string) error { return errors.New("no") }
	for name, sync := range map[string]func(*host.Env, string) error{"requeues": again, "fails": fails} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res := scenarios.Interpret(parse(t, "controllers unsettled\napply world.yaml\nsettle\n"),
				scenarios.Options{Registry: unsettled(sync)})
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

// runaway returns a registry with a controller that never stops writing. It increments an annotation, or creates
// another object each time. syncs counts its reconciles.
func runaway(creates bool, syncs *int) *scenarios.Registry {
	return unsettled(func(env *host.Env, key string) error {
		*syncs++
		ctx := context.Background()
		defer env.Queue.Add(key)
		if creates {
			_, err := env.Client.Create(ctx,
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "pile-"}})
			return err
		}
		obj, err := env.Client.Get(ctx, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "default", "web-a")
		if err != nil {
			return err
		}
		rs := obj.DeepCopyObject().(*appsv1.ReplicaSet)
		n := 0
		_, _ = fmt.Sscan(rs.Annotations["n"], &n)
		metav1.SetMetaDataAnnotation(&rs.ObjectMeta, "n", fmt.Sprint(n+1))
		_, err = env.Client.Update(ctx, rs)
		return err
	})
}

// The failure of a controller that never stops writing is minimized, written and replayed in a few runs. None is longer
// than the failing run.
func TestRunawayIsWrittenSoon(t *testing.T) {
	for name, creates := range map[string]bool{"counts": false, "piles up": true} {
		t.Run(name, func(t *testing.T) {
			syncs := 0
			g := runaway(creates, &syncs)
			script := "controllers unsettled\napply world.yaml\nsettle limit=500\nexpect rs/web-a deleting=true\n"
			x, err := scenarios.Explore(t.Context(), parse(t, script), -1, g,
				scenarios.ExploreOptions{Schedules: 1, Workers: 1})
			if err != nil || len(x.Failures) != 1 {
				t.Fatalf("%v\n%s", err, x.Text())
			}
			if syncs > 25*500 {
				t.Errorf("%d syncs to find, minimize and write a failure of 500 syncs", syncs)
			}
			f := x.Failures[0]
			if n := strings.Count(string(f.File), "\n"); n > 400 {
				t.Errorf("the file has %d lines", n)
			}
			replays(t, g, f)
		})
	}
}

// If runs do not end at violations, a world that never settles is run only a few times to the maximal number of steps.
// The requested number of schedules does not matter.
func TestRunawayIsExaminedSoon(t *testing.T) {
	syncs := 0
	g := runaway(true, &syncs)
	x, err := scenarios.Explore(t.Context(), parse(t, "controllers unsettled\napply world.yaml\nsettle\n"), -1, g,
		scenarios.ExploreOptions{Schedules: 50, Workers: 1, Whole: true, LawsOnly: true, Steps: 300})
	if err != nil || x.Schedules > 2 || !broken(x, "EXACT-7") {
		t.Errorf("%v; %d schedules, want at most 2, and a violation of EXACT-7: %+v", err, x.Schedules, x.Said)
	}
	if syncs > 4*300 {
		t.Errorf("%d syncs in runs of 300 steps", syncs)
	}
}

func broken(x *scenarios.Exploration, id string) bool {
	return slices.ContainsFunc(x.Said, func(s scenarios.Said) bool { return s.Law == id && s.Broken > 0 })
}

// racing records which timers fire before the first possible action.
type racing struct {
	sim.Chooser
	retries    int
	overtaking int // retries before the user's next action and a pending event
}

func (r *racing) Next(w *sim.World, enabled []sim.Action) int {
	i := r.Chooser.Next(w, enabled)
	if i < 0 || enabled[i].Class != sim.Timer {
		return i
	}
	r.retries++
	offered := map[sim.Class]bool{}
	for _, a := range enabled {
		offered[a.Class] = true
	}
	if offered[sim.User] && offered[sim.Deliver] {
		r.overtaking++
	}
	return i
}

// A creation is refused and retried after 5 ms. In the meantime, user actions and events are pending.
const retried = `controllers replicaset replication
apply race.yaml
settle quiet
fail replicaset create pod nth=1 with=500
scale rs/a replicas=2
label rs/a by=user
label rs/a by=user2
label rc/b by=user
label rc/b by=user2
settle
-- race.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: a
spec:
  replicas: 1
  selector:
    matchLabels: {app: a}
  template:
    metadata:
      labels: {app: a}
    spec:
      containers: [{name: c, image: i}]
---
apiVersion: v1
kind: ReplicationController
metadata:
  name: b
spec:
  replicas: 1
  selector: {app: b}
  template:
    metadata:
      labels: {app: b}
    spec:
      containers: [{name: c, image: i}]
`

// In the default schedule, a retry comes last. In random schedules of each strategy, it sometimes comes before the
// user's next action and a pending event.
func TestRetriesRace(t *testing.T) {
	f := parse(t, retried)
	p := &scenarios.Script{File: f, Registry: registry(), Until: len(f.Steps)}
	run := func(c sim.Chooser) *racing {
		r := &racing{Chooser: c}
		if out := p.Run(r); !out.Settled || len(out.Findings) > 0 {
			t.Fatalf("%+v", out)
		}
		return r
	}
	if r := run(explore.Follow(nil)); r.retries != 1 || r.overtaking != 0 {
		t.Errorf("default schedule: %d timers fired, %d before others", r.retries, r.overtaking)
	}
	const runs = 1000
	for _, s := range []explore.Strategy{explore.Random, explore.Priorities} {
		plan := explore.Plan{Strategy: s, Seed: 1, Steps: 60}
		count := func() (seeds []int) {
			for i := range runs {
				c, _ := plan.At(i)
				if run(c).overtaking > 0 {
					seeds = append(seeds, i)
				}
			}
			return seeds
		}
		seeds := count()
		if n := len(seeds); n <= runs/100 || n >= runs/2 {
			t.Errorf("strategy %v: in %d of %d runs the retry came before both the action and the event", s, n, runs)
		}
		t.Logf("%v: %d of %d", s, len(seeds), runs)
	}
}
