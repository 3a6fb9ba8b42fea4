package host

import (
	"fmt"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// A cache is behind a write by the deliveries that lead to it, whatever was
// written to other kinds meanwhile, and caught up after a list that is newer; of
// a list it has caught up with nothing until all of it is delivered.
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
		t.Errorf("a kind that had no object when the process began is behind by %d", got)
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
