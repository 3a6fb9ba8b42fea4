package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Two runs with equal choices have the same history. Other choices lead to another history.
func TestDeterministic(t *testing.T) {
	hashes := map[uint64]bool{}
	for seed := range uint64(50) {
		var first []uint64
		for round := range 3 {
			c := newToyCluster(t, sim.NewSeed(seed), 3)
			c.Start("toy", toyController(false))
			c.createMap(t, "db", 2)
			var trail []uint64
			for c.world.Step() {
				trail = append(trail, c.world.Hash()^c.world.StateHash())
			}
			if round == 0 {
				first = trail
			} else if !slices.Equal(first, trail) {
				t.Fatalf("seed %d: round %d differs", seed, round)
			}
		}
		hashes[first[len(first)-1]] = true
	}
	if len(hashes) < 10 {
		t.Errorf("50 seeds gave %d different runs", len(hashes))
	}
}

// While its watch of pods is paused, the toy creates too many pods. After the watch is resumed, it deletes them.
func TestHoldAndRelease(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 2)
	p := c.Start("toy", toyController(false))
	pods := c.kind(podGVK)
	for !p.synced {
		c.world.Step()
	}
	p.Hold(pods)
	run(t, c.world, 1000)
	p.queue.Add("default/web")
	run(t, c.world, 1000)
	if n := len(podNames(c)); n != 4 {
		t.Errorf("with a paused watch: %d pods, want 4", n)
	}
	p.Release(pods)
	run(t, c.world, 1000)
	if n := len(podNames(c)); n != 2 {
		t.Errorf("after release: %d pods, want 2", n)
	}
}

// A crash before a request is executed loses the request. A crash after that loses only the answer. In both cases, the
// world settles with the wanted pods.
func TestCrash(t *testing.T) {
	for _, when := range []sim.Class{sim.Execute, sim.Respond} {
		c := newToyCluster(t, sim.Zero{}, 1)
		p := c.Start("toy", toyController(false))
		for {
			e := c.world.Enabled()
			if e[0].Class == when {
				break
			}
			c.world.Take(e[0])
		}
		p.Crash(true)
		want := 0
		if when == sim.Respond {
			want = 1
		}
		if n := len(podNames(c)); n != want {
			t.Errorf("crash before %v: %d pods, want %d", when, n, want)
		}
		run(t, c.world, 1000)
		if n := len(podNames(c)); n != 1 || p.Incarnation != 1 {
			t.Errorf("after the restart: %d pods, incarnation %d", n, p.Incarnation)
		}
	}
}

// A process that restarts from a lagging server lists an old revision. Its watch then delivers the later changes.
func TestRestartFromOlderList(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	p := c.Start("toy", toyController(false))
	before := c.server.Version()
	run(t, c.world, 1000)
	p.Restart(before)
	for !p.synced {
		c.world.Step()
	}
	if n := p.informers[c.kind(podGVK)].cache.items.Len(); n != 0 {
		t.Errorf("the list of an old revision has %d pods, want 0", n)
	}
	run(t, c.world, 1000)
	if n := len(podNames(c)); n != 1 {
		t.Errorf("%d pods in the end, want 1", n)
	}
}

type tombstones struct{ adds, updates, deletes, stones []string }

func (s *tombstones) OnAdd(obj any, _ bool) { s.adds = append(s.adds, name(obj)) }
func (s *tombstones) OnUpdate(_, obj any)   { s.updates = append(s.updates, name(obj)) }
func (s *tombstones) OnDelete(obj any) {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		s.stones = append(s.stones, d.Key)
		return
	}
	s.deletes = append(s.deletes, name(obj))
}

func name(obj any) string {
	key, _ := cache.MetaNamespaceKeyFunc(obj)
	return key
}

// Objects that were deleted during a gap of the watch are delivered as tombstones. Objects that were created and
// deleted in the gap are not delivered.
func TestRelist(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	seen := &tombstones{}
	ctl := Controller{Name: "watcher", Owns: toyController(false).Owns, New: func(env *Env) Reconciler {
		env.Informer(configMapGVK).AddEventHandler(seen)
		return SyncFunc(nil)
	}}
	p := c.Start("watcher", ctl)
	run(t, c.world, 10)
	maps := c.kind(configMapGVK)
	del := func(name string) {
		c.As("user", &fakeapi.Request{Verb: fakeapi.Delete, Kind: maps, Namespace: "default", Name: name})
	}
	c.createMap(t, "brief", 1)
	c.createMap(t, "stays", 1)
	del("brief")
	del("web")
	p.Relist(maps)
	run(t, c.world, 10)
	if !slices.Equal(seen.adds, []string{"default/web", "default/stays"}) ||
		!slices.Equal(seen.stones, []string{"default/web"}) || seen.deletes != nil {
		t.Errorf("adds %v, tombstones %v, deletes %v", seen.adds, seen.stones, seen.deletes)
	}
}

// Many renewals of a Lease are delivered in one step, up to the last one. Few are delivered one by one.
func TestRenewalsArriveTogether(t *testing.T) {
	leases := coordinationv1.SchemeGroupVersion.WithKind("Lease")
	for renewals, steps := range map[int]int{mostWaiting: mostWaiting, mostWaiting + 1: 1} {
		c := newToyCluster(t, sim.Zero{}, 1)
		seen := &tombstones{}
		c.Start("watcher", Controller{Name: "watcher", Reads: []schema.GroupVersionKind{leases}, New: func(env *Env) Reconciler {
			env.Informer(leases).AddEventHandler(seen)
			return SyncFunc(nil)
		}})
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "lock"}}
		write := func(r fakeapi.Request) {
			r.Kind, r.Namespace, r.Name = c.kind(leases), "default", "lock"
			if resp := c.As("user", &r); resp.Err != nil {
				t.Fatal(resp.Err)
			}
		}
		write(fakeapi.Request{Verb: fakeapi.Create, Object: lease})
		run(t, c.world, 10)
		for i := range renewals {
			write(fakeapi.Request{Verb: fakeapi.Patch, PatchType: types.MergePatchType,
				Patch: fmt.Appendf(nil, `{"spec": {"leaseTransitions": %d}}`, i+1)})
		}
		before := c.world.Steps()
		run(t, c.world, 2*renewals)
		if n := c.world.Steps() - before; n != steps || len(seen.updates) != renewals {
			t.Errorf("%d renewals: %d steps with %d updates, want %d steps", renewals, n, len(seen.updates), steps)
		}
	}
}

// If a controller changes a cached object, the record names the changed field and the process.
func TestMutationIsFound(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	c.Start("toy", toyController(true))
	run(t, c.world, 1000)
	for i := range c.world.History.Records {
		if r := &c.world.History.Records[i]; r.Op == sim.Mutation {
			if r.Process != "toy" || r.Reason != "metadata.labels.spoilt" ||
				!strings.Contains(r.Message, "(absent) became yes") {
				t.Errorf("%s: %s %q", r.Process, r.Reason, r.Message)
			}
			return
		}
	}
	t.Error("no mutation was reported")
}

func TestFailures(t *testing.T) {
	for _, f := range []FailedRequest{
		{Verb: fakeapi.Create, Nth: 1, Code: 409}, {Verb: fakeapi.Create, Nth: 1, Code: 429},
		{Verb: fakeapi.Create, Nth: 2, Code: 500}, {Verb: fakeapi.Create, Nth: 1, Code: 504, Commits: true},
	} {
		c := newToyCluster(t, sim.Zero{}, 2)
		c.Fail(f)
		c.Start("toy", toyController(false))
		run(t, c.world, 1000)
		if n := len(podNames(c)); n != 2 {
			t.Errorf("%+v: %d pods, want 2", f, n)
		}
		if c.world.Clock.Elapsed() != usual.First {
			t.Errorf("%+v: settled at %v, want one backoff of %v", f, c.world.Clock.Elapsed(), usual.First)
		}
		for n := range c.world.History.Len() {
			if r := c.world.History.At(n); r.Op == sim.Refusal && f.Code == 409 && !strings.Contains(r.Message, `pods "web-`) {
				t.Errorf("the error does not name the pod: %s", r.Message)
			}
		}
	}
}

func TestCallOutsideASyncPanics(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	p := c.Start("toy", toyController(false))
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "outside a sync") {
			t.Errorf("recovered %v", r)
		}
	}()
	_, err := p.reconciler.(*toy).env.Client.Get(t.Context(), podGVK, "default", "x")
	t.Error("the misuse did not panic:", errors.Unwrap(err))
}

// A stopped world leaves no goroutine, whatever its syncs were doing.
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
		t.Errorf("%d goroutines before 200 stopped worlds, %d after", before, after)
	}
}

// beside returns a controller whose Sync sends its request on another goroutine and waits for it.
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

// A request from another goroutine panics with an explanation, although the Sync waits for the goroutine.
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

// A request without a kind returns an error with a suggestion, for the user and in a Sync.
func TestRequestWithoutAKind(t *testing.T) {
	const want = "the request names no kind: its Kind is nil, and the server has no kind confgmap; did you mean " +
		"ConfigMap?"
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	resp := c.As("user",
		&fakeapi.Request{Verb: fakeapi.Get, Kind: c.server.KindNamed("confgmap"), Namespace: "default", Name: "x"})
	if resp.Err == nil || resp.Err.ErrStatus.Message != want {
		t.Errorf("the user got %v", resp.Err)
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
		t.Errorf("the sync gets %v", got)
	}
}

// The list of actions that a process keeps from step to step equals a newly computed list, under any choices and
// faults.
func TestOffersAreWhatThereIsToDo(t *testing.T) {
	steps := 0
	for seed := range uint64(60) {
		c := newToyCluster(t, sim.NewSeed(seed), 2)
		for _, name := range []string{"one", "two"} {
			ctl := toyController(false)
			ctl.Workers = 2
			c.Start(name, ctl)
		}
		b, err := c.NewBudget(map[string]int{"crash": 2, "stale": 1, "conflict": 1, "throttle": 1, "error": 1,
			"lost": 1, "relist": 2, "resync": 2})
		if err != nil {
			t.Fatal(err)
		}
		c.world.Add(b)
		view := c.server.KindNamed("pod")
		for n := 0; n < 300; n++ {
			switch p := c.processes[0]; n {
			case 10:
				p.Hold(view)
			case 40:
				p.Release(view)
			case 60:
				p.Switch(p.controller)
			case 80:
				p.Crash(false)
			case 90:
				p.Restart(0)
			}
			for _, p := range c.processes {
				if got, want := (actor{p}).Offer(nil), offered(p); !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: %s offers\n%v, want\n%v", seed, n, p.Name, got, want)
				}
			}
			if !c.world.Step() {
				break
			}
			steps++
		}
		c.Stop()
	}
	if steps < 2000 {
		t.Errorf("only %d steps", steps)
	}
}

// offered computes the actions of a process without the kept list.
func offered(p *Process) []sim.Action {
	var news []sim.Action
	for i, inf := range p.order {
		if !inf.held && inf.pending() > 0 {
			news = append(news, sim.Action{Class: sim.Deliver, Actor: p.Name, Detail: inf.kind.GVK.Kind, Slot: i})
		}
	}
	known := p.news
	p.news = news
	defer func() { p.news = known }()
	return p.offer(nil)
}
