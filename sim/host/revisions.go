package host

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// The server keeps what is stored, and the log of what was, and forgets of it
// what it is told to. The cluster notes for each revision what the server does
// not know: the versions before and after with their digests, and the record that
// the change is of. A list or a watch that begins in the past is answered by the
// server, and its answer looked up among the notes.

// note takes down a change that the server has just stored, and sends it to the
// watches of its kind. A process that is down keeps those it died with until it
// starts again.
func (c *Cluster) note(s *kindState, e *fakeapi.Event, cause int) {
	ch := change{version: e.Version, cause: cause}
	ch.before, ch.after = s.commit(e.Key, e.After)
	if e.After == nil && c.world.History.Forget > 0 {
		s.removed = append(s.removed, removal{s.latest[e.Key], e.Version})
	}
	c.noted = append(c.noted, ch)
	for _, p := range c.processes {
		if i := p.informers[s.kind]; i != nil && i.synced && !p.Down { // a dead watch is sent nothing
			i.stream.push(ch)
			i.notice()
		}
	}
	c.forget()
}

// forget has the server forget old revisions, where the world keeps only the last
// steps of its history: as many revisions as it keeps records stay.
func (c *Cluster) forget() {
	keep := uint64(c.world.History.Forget)
	if keep == 0 || c.server.Version() < c.compacted+2*keep {
		return
	}
	c.compacted = c.server.Version() - keep
	c.server.Compact(c.compacted)
	first := c.find(c.compacted + 1)
	n := copy(c.noted, c.noted[first:])
	clear(c.noted[n:])
	c.noted = c.noted[:n]
	for _, s := range c.order {
		s.forget(c.compacted)
	}
	c.forgetKinds()
}

// forgetKinds drops what definitions made of a kind before they changed, or went: what is
// known of the kind stays under what it was when it was met, and what it is now. Who
// still asks by another, as a request under way, is told the same.
func (c *Cluster) forgetKinds() {
	served := c.server.Kinds()
	maps.DeleteFunc(c.states, func(k *fakeapi.Kind, s *kindState) bool {
		return s.kind != k && !slices.Contains(served, k)
	})
}

// find is the place of the first note on a revision or a later one.
func (c *Cluster) find(revision uint64) int {
	i, _ := slices.BinarySearchFunc(c.noted, revision, func(ch change, r uint64) int {
		return cmp.Compare(ch.version, r)
	})
	return i
}

// since are the changes to a kind after a revision. What the server held of it when
// the cluster met the kind came with that revision: before, there was nothing.
func (c *Cluster) since(s *kindState, revision uint64) []change {
	var out []change
	revision = max(revision, c.server.Oldest(s.kind))
	if revision < s.met {
		first, _, _ := c.listAt(s, s.met)
		for _, v := range first {
			out = append(out, change{version: s.met, after: v, cause: -1})
		}
	}
	events, err := c.server.Since(s.kind, max(revision, s.met))
	if err != nil {
		panic("host: the server forgot what it said it has: " + err.Error())
	}
	for i := range events {
		if at := c.find(events[i].Version); at < len(c.noted) && c.noted[at].version == events[i].Version {
			out = append(out, c.noted[at])
		}
	}
	return out
}

// listAt is what a list of a kind at a revision answers, in key order, and the
// changes that follow it. Where the server has forgotten the revision, it answers
// as of the oldest it knows, which is returned.
func (c *Cluster) listAt(s *kindState, revision uint64) (items []*version, later []change, at uint64) {
	at = max(revision, c.server.Oldest(s.kind))
	later = c.since(s, at)
	if at < s.met {
		return nil, later, at
	}
	then := make(map[string]*version, len(later)) // what was, of what has changed
	for _, ch := range slices.Backward(later) {
		then[ch.key()] = ch.before
	}
	objects, err := c.server.SnapshotAt(s.kind, at)
	if err != nil {
		panic("host: the server forgot what it said it has: " + err.Error())
	}
	items = make([]*version, 0, len(objects))
	for _, obj := range objects {
		key := keyOf(obj.(metav1.Object))
		v, changed := then[key]
		if !changed {
			v = s.latest[key]
		}
		if v != nil && v.obj != nil {
			items = append(items, v)
		}
	}
	return items, later, at
}

// digestBefore folds what a list at a revision answers, and what follows it: what
// a process depends on that comes up to a lagging server's lists.
func (c *Cluster) digestBefore(revision uint64, h *sim.Hash) {
	for _, s := range c.order {
		c.digestKindBefore(s, revision, h)
	}
}

func (c *Cluster) digestKindBefore(s *kindState, revision uint64, h *sim.Hash) {
	items, later, _ := c.listAt(s, revision)
	for _, v := range items {
		h.Word(v.exact)
	}
	for i := range later {
		later[i].digest(h)
	}
}

// digestLast folds the last changes of all kinds in their order, and what was
// there before each: what lists at one of the last n revisions depend on.
func (c *Cluster) digestLast(n uint64, h *sim.Hash) {
	now := c.server.Version()
	for _, s := range c.order {
		for _, ch := range slices.Backward(c.since(s, now-min(n, now))) {
			h.Word(now - ch.version)
			ch.digest(h)
			if ch.before != nil {
				h.Word(ch.before.exact)
			}
		}
	}
}

// DigestHistory folds every change there ever was, with its revision: for worlds
// in which somebody may list at any of them.
func (c *Cluster) DigestHistory(h *sim.Hash) {
	for _, s := range c.order {
		for _, ch := range c.since(s, 0) {
			h.Word(ch.version)
			ch.digest(h)
		}
	}
}

// behind is how many deliveries the process's cache of a kind is behind a resource
// version: see [Env]. A sync that asks learns something, which is folded like what
// it reads from the cache itself. That it is behind by none is not: who had a reason
// to ask then knows no more than who had none, and the two go on alike.
func (p *Process) behind(gvk schema.GroupVersionKind, resourceVersion string) int {
	p.reads.Lock()
	defer p.reads.Unlock()
	i := p.informers[p.cluster.kind(gvk)]
	revision, err := strconv.ParseUint(resourceVersion, 10, 64)
	if i == nil || err != nil {
		return 0
	}
	n := i.behind(revision)
	if w := p.cluster.running; n > 0 && w != nil && w.process == p {
		h := sim.Hash(i.state.salt)
		h.Word(revision)
		h.Word(uint64(n))
		w.foldRead(uint64(h))
	}
	return n
}

// behind counts the deliveries after which the cache is as new as a revision.
func (i *informer) behind(revision uint64) int {
	switch {
	case i.synced && i.cache.rv >= revision:
		return 0
	case i.synced && i.relisted >= revision:
		return len(i.backlog)
	case !i.synced && i.from == 0:
		return 1
	case !i.synced:
		return 1 + upTo(i.process.cluster.since(i.state, i.from), revision)
	}
	return len(i.backlog) + upTo(i.stream.waiting(), revision)
}

// upTo is how many of the changes lead to the first that is as new as a revision.
func upTo(changes []change, revision uint64) int {
	for n := range changes {
		if changes[n].version >= revision {
			return n + 1
		}
	}
	return len(changes)
}
