package host

import (
	"fmt"
	"slices"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// A list at a past revision contains the objects of that time. The later changes lead to the current objects.
func TestListAt(t *testing.T) {
	c := newToyCluster(t, sim.NewSeed(3), 3)
	defer c.Stop()
	c.Start("toy", toyController(false))
	pods := c.state(c.kind(podGVK))
	now := func() (all []*version) {
		for _, key := range podNames(c) {
			all = append(all, pods.latest[key])
		}
		return all
	}
	was := map[uint64][]*version{c.server.Version(): now()}
	for range 5 {
		for range 1000 {
			if !c.world.Step() {
				break
			}
			was[c.server.Version()] = now()
		}
		ns, name := splitKey(podNames(c)[0])
		c.As("user", &fakeapi.Request{Verb: fakeapi.Delete, Kind: pods.kind, Namespace: ns, Name: name})
		was[c.server.Version()] = now()
	}
	if len(was) < 10 {
		t.Fatalf("only %d revisions", len(was))
	}
	for revision, want := range was {
		items, later, at := c.listAt(pods, revision)
		if !slices.Equal(items, want) || at != revision {
			t.Errorf("at %d: %d items, want %d", revision, len(items), len(want))
		}
		then := map[string]*version{}
		for _, v := range items {
			then[v.key] = v
		}
		for _, ch := range later {
			if then[ch.key()] != ch.before {
				t.Errorf("the change at %d of %s does not continue the version before it", ch.version, ch.key())
			}
			if then[ch.key()] = ch.after; ch.after == nil {
				delete(then, ch.key())
			}
		}
		for _, v := range now() {
			if then[v.key] != v {
				t.Errorf("the changes after %d do not lead to %s", revision, v.key)
			}
			delete(then, v.key)
		}
		if len(then) > 0 {
			t.Errorf("the changes after %d lead to %d objects that do not exist", revision, len(then))
		}
	}
}

// A stream returns its changes in order. Its digest depends only on the waiting changes and their order.
func TestStream(t *testing.T) {
	var all []change
	for i := range 200 {
		all = append(all, change{version: uint64(i + 1), after: podVersion("ns", fmt.Sprint("p", i), "a", 1)})
	}
	var s stream
	seed, seen := sim.NewSeed(5), map[uint64]string{}
	for from, to := 0, 0; to < len(all); {
		if s.len() > 0 && seed.Pick(5, "") < 2 {
			if got := s.pop().version; got != all[from].version {
				t.Fatalf("change %d came instead of %d", got, all[from].version)
			}
			from++
		} else {
			s.push(all[to])
			to++
		}
		if !slices.Equal(s.waiting(), all[from:to]) {
			t.Fatalf("%d changes wait, want %d", s.len(), to-from)
		}
		if again := streamOf(all[from:to]); s.digest.sum != again.digest.sum {
			t.Errorf("%d to %d: %x, computed again %x", from, to, s.digest.sum, again.digest.sum)
		}
		text := fmt.Sprint(from, to)
		if other, is := seen[s.digest.sum]; is && from != to && other != text {
			t.Errorf("%s and %s have the same digest", other, text)
		}
		seen[s.digest.sum] = text
	}
	if a, b := streamOf(all[:2]), streamOf([]change{all[1], all[0]}); a.digest.sum == b.digest.sum {
		t.Error("the digest does not depend on the order")
	}
}

// A world that forgets old records runs like a world that keeps all, and keeps few changes.
func TestForget(t *testing.T) {
	const keep, rounds = 20, 60
	play := func(forget int) *Cluster {
		c := newToyCluster(t, sim.NewSeed(7), 3)
		c.world.History.Forget = forget
		c.Start("toy", toyController(false))
		for range rounds {
			run(t, c.world, 1000)
			for _, key := range podNames(c) {
				ns, name := splitKey(key)
				r := c.As("user",
					&fakeapi.Request{Verb: fakeapi.Delete, Kind: c.kind(podGVK), Namespace: ns, Name: name})
				if r.Err != nil {
					t.Fatal(r.Err)
				}
			}
		}
		run(t, c.world, 1000)
		return c
	}
	all, some := play(0), play(keep)
	if all.world.Hash() != some.world.Hash() || all.world.StateHash() != some.world.StateHash() {
		t.Error("the run differs from that of a world that keeps all records")
	}
	pods := all.kind(podGVK)
	if n := len(all.noted); n < 2*rounds {
		t.Fatalf("only %d changes", n)
	}
	if n := len(some.noted); n > 2*keep {
		t.Errorf("%d changes are kept, want at most %d", n, 2*keep)
	}
	if n, most := len(some.state(pods).latest), some.server.Len(pods)+2*keep; n > most {
		t.Errorf("%d keys of pods are remembered, want at most %d", n, most)
	}
	// A list at a forgotten revision shows the oldest revision that is kept.
	p := some.Process("toy")
	p.Restart(1)
	run(t, some.world, 1000)
	if got, want := p.informers[pods].cache.items.Len(), some.server.Len(pods); got != want {
		t.Errorf("after a restart %d pods are cached, want %d", got, want)
	}
}

// In a world that forgets old records, no events are kept for a process that is down.
func TestForgetWhileDown(t *testing.T) {
	c := newToyCluster(t, sim.NewSeed(7), 3)
	defer c.Stop()
	c.world.History.Forget = 10
	p := c.Start("toy", toyController(false))
	run(t, c.world, 1000)
	p.Crash(false)
	for range 50 {
		r := c.As("user", &fakeapi.Request{Verb: fakeapi.Create, Kind: c.kind(podGVK), Namespace: "default",
			Object: toyPod("web")})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if r = c.As("user", &fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: c.kind(podGVK),
			Namespace: "default"}); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if n := p.informers[c.kind(podGVK)].pending(); n > 0 {
		t.Errorf("%d changes wait for a process that is down", n)
	}
}

// Behind returns the number of deliveries until the cache contains a write. Writes to other kinds do not count. After a
// relist, the cache is up to date when all differences are delivered.
func TestBehind(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 0)
	idle := toyController(false)
	idle.Routes = nil
	p := c.Start("idle", idle)
	version := func() string { return fmt.Sprint(c.server.Version()) }
	check := func(when, version string, want int) {
		t.Helper()
		if got := p.behind(configMapGVK, version); got != want {
			t.Errorf("%s: behind by %d deliveries, want %d", when, got, want)
		}
	}
	first := version()
	check("before the initial list", first, 1)
	run(t, c.world, 10)
	check("after it", first, 0)

	p.Hold(c.kind(configMapGVK))
	c.createMap(t, "a", 0)
	a := version()
	c.As("user",
		&fakeapi.Request{Verb: fakeapi.Create, Kind: c.kind(podGVK), Namespace: "default", Object: toyPod("a")})
	c.createMap(t, "b", 0)
	b := version()
	check("the first of two", a, 1)
	check("the second of two", b, 2)
	check("what is delivered", first, 0)
	check("no number", "x", 0)
	if got := p.behind(podGVK, "1"); got != 0 {
		t.Errorf("the cache of a kind without initial objects is behind by %d", got)
	}

	i := p.informers[c.kind(configMapGVK)]
	i.relist()
	check("a list of three, nothing of it delivered", a, 3)
	i.deliver()
	check("one of it delivered", a, 2)
	i.deliver()
	i.deliver()
	check("all of it delivered", b, 0)
}
