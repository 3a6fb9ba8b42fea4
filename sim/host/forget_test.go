package host

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// A world that keeps only the last steps runs as one that keeps everything, and
// does not hold on to what everybody has seen.
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
		t.Error("forgetting changed the run")
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
	// A list at a revision that is forgotten is answered as of the oldest one kept.
	p := some.Process("toy")
	p.Restart(1)
	run(t, some.world, 1000)
	if got, want := p.informers[pods].cache.items.Len(), some.server.Len(pods); got != want {
		t.Errorf("after a restart %d pods are cached, want %d", got, want)
	}
}

// A process that is down for good does not fill up with what happens meanwhile, in a
// world that forgets.
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
