package simtest_test

import (
	"context"
	"flag"
	"os"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// marker returns a controller that writes what it remembers into its ConfigMap, once.
func marker(workers int, remember func(env *host.Env) func(ctx context.Context, key string) string) host.Controller {
	return host.Controller{
		Name: "marker", For: configMaps, Owns: []schema.GroupVersionKind{secrets}, Workers: workers,
		Routes: []host.Route{{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(*corev1.ConfigMap).Name)
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			know := remember(env)
			return host.SyncFunc(func(ctx context.Context, key string) error {
				v := know(ctx, key)
				o, err := env.Client.Get(ctx, configMaps, "default", key[len("default/"):])
				if err != nil || v == "" || o.(*corev1.ConfigMap).Data["v"] != "" {
					return nil
				}
				_, err = env.Client.Patch(ctx, configMaps, "default", o.(*corev1.ConfigMap).Name,
					host.Patch{Type: types.MergePatchType, Data: []byte(`{"data":{"v":"` + v + `"}}`)})
				return err
			})
		},
	}
}

// A controller may remember more than its caches show: how often it was called, what it saw between two calls, in which
// order its workers ran, which kinds were served. Exhaustive search distinguishes such states.
func TestExhaustiveWithStatefulControllers(t *testing.T) {
	for name, c := range map[string]simtest.Case{
		"how often": {Controllers: []host.Controller{marker(1, func(*host.Env) func(context.Context, string) string {
			n := 0
			return func(context.Context, string) string {
				if n++; n < 2 {
					return ""
				}
				return strconv.Itoa(n)
			}
		})}, User: []simtest.Action{simtest.Verb("label cm/a x=1"), simtest.Verb("label cm/a y=1")}},
		"between two calls": {
			Controllers: []host.Controller{marker(1, func(env *host.Env) func(context.Context, string) string {
				seen := 0
				if _, err := env.Informer(secrets).AddEventHandler(
					cache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen++ }}); err != nil {
					panic(err)
				}
				return func(ctx context.Context, key string) string {
					was := seen
					_, _ = env.Client.Get(ctx, configMaps, "default", "a")
					return strconv.Itoa(was) + "-" + strconv.Itoa(seen)
				}
			})}, User: []simtest.Action{simtest.Apply("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n")}},
		"which kinds": {
			Controllers: []host.Controller{marker(1, func(env *host.Env) func(context.Context, string) string {
				return func(context.Context, string) string { return strconv.Itoa(len(env.Kinds())) }
			})}, User: []simtest.Action{simtest.Apply(fleetDefinition)}},
		"a gap": {Faults: map[string]int{"relist": 1},
			Controllers: []host.Controller{marker(1, func(env *host.Env) func(context.Context, string) string {
				gap := ""
				if _, err := env.Informer(configMaps).AddEventHandler(
					cache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) {
						if _, ok := o.(cache.DeletedFinalStateUnknown); ok {
							gap = "gap"
						}
						env.Queue.Add("default/a")
					}}); err != nil {
					panic(err)
				}
				return func(context.Context, string) string { return gap }
			})}, User: []simtest.Action{
				simtest.Apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"),
				simtest.Verb("delete cm/b")}},
	} {
		t.Run(name, func(t *testing.T) {
			// no other law ends a run early
			c.Objects, c.Laws = []runtime.Object{kept}, []*law.Law{law.ByID(law.AlwaysSettles)}
			f, err := c.File(name)
			if err != nil {
				t.Fatal(err)
			}
			n := &tally{}
			p := &proof{
				Script: scenarios.Script{File: f, Registry: c.Registry(), Until: len(f.Steps), Faults: c.Faults},
				size:   size{states: 3000, naive: 500, random: 200}}
			if p.prove(t, name, n); n.proved.Load() != 1 {
				t.Error(n)
			}
		})
	}
}

var registry = &scenarios.Registry{Controllers: controllers.Builtin(), Aliases: controllers.KubeControllerManager().Aliases, Laws: law.All(),
	Candidate: controllers.KubeControllerManager().Elector}

// found is the directory for the fuzzer's failures.
const found = "../failures"

var conforming = generator{
	Controllers: "replicaset@controllerref replication@controllerref gc kubelet",
	Sets:        3, Orphans: 3, Actions: 4,
	Faults: map[string]int{"crash": 1, "lost": 1, "conflict": 1, "relist": 1, "stale": 1},
}

// TestMain fixes rapid's seed unless one is given, so that every test run is the same. Use the fuzzer to search for new
// failures.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("2017"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The generator finds fights in the era before ControllerRef.
func TestSelectorFights(t *testing.T) {
	w := conforming
	w.Controllers, w.Faults = "replicaset@selector replication@selector gc kubelet", nil
	g := *registry
	g.Laws = []*law.Law{law.ByID("NOFIGHT-1")} // any other law would end the run before the fight
	fights := 0
	const runs = 100
	for seed := range uint64(runs) {
		v, err := w.run(&g, sim.NewSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome.Fight {
			fights++
		}
	}
	t.Logf("%d of %d worlds fought", fights, runs)
	if fights < runs/20 {
		t.Errorf("only %d of %d worlds fought", fights, runs)
	}
}

// In the era controllerref, no user actions, schedules or faults make the controllers fight or violate a law.
func TestControllerRefUnderSeeds(t *testing.T) {
	for seed := range uint64(500) {
		v, err := conforming.run(registry, sim.NewSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		if why := v.Failed(); why != "" {
			t.Fatalf("seed %d: %s\n%s", seed, why, v.File.Format())
		}
	}
}

// FuzzOwnershipRace uses its bytes as the stream of choices for the world, the user's actions, and the schedule.
func FuzzOwnershipRace(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 1, 0, 0, 1, 1, 2, 0, 1, 3, 2, 1, 0, 4, 2, 1})
	f.Add([]byte{2, 0, 2, 0, 0, 2, 1, 1, 3, 1, 0, 0, 1, 0, 1, 1, 3, 0, 1, 0, 2, 1, 1, 0, 3, 5, 2, 9, 4, 3, 1, 2})
	f.Fuzz(simtest.Fuzz(func(c sim.Choices) (*simtest.Drawn, error) { return conforming.run(registry, c) },
		func(*testing.T) string { return found }))
}
