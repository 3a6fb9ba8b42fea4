package host

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// A list from the past is what was there then, and the changes that follow it lead
// to what is there now.
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
				t.Errorf("the change at %d of %s does not follow", ch.version, ch.key())
			}
			if then[ch.key()] = ch.after; ch.after == nil {
				delete(then, ch.key())
			}
		}
		for _, v := range now() {
			if then[v.key] != v {
				t.Errorf("from %d the changes do not lead to %s", revision, v.key)
			}
			delete(then, v.key)
		}
		if len(then) > 0 {
			t.Errorf("from %d the changes lead to %d objects more", revision, len(then))
		}
	}
}

// A stream gives back what was put in, in order, whatever of it is out already.
func TestStream(t *testing.T) {
	var s stream
	in, out, v := uint64(0), uint64(0), podVersion("ns", "p", "a", 1)
	for round := range 50 {
		for range round % 7 {
			in++
			s.push(change{version: in, after: v})
		}
		for range min(s.len(), round%5) {
			if out++; s.pop().version != out {
				t.Fatalf("out of order at %d", out)
			}
		}
		if uint64(s.len()) != in-out || s.len() > 0 && s.waiting()[0].version != out+1 {
			t.Fatalf("%d waiting, want %d", s.len(), in-out)
		}
	}
}
