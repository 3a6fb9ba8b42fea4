package host

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// The server keeps the stored objects and a log of changes, and drops old revisions when it compacts. For each
// revision, the cluster notes what the server does not keep: the [version] before and after the change, and the index
// of the record. When a list or watch begins in the past, the server returns the objects. The cluster finds the
// [version] of each object in its notes.

// note keeps a new change in c.noted, and sends it to the informers of its kind.
func (c *Cluster) note(s *kindState, e *fakeapi.Event, cause int) {
	ch := change{version: e.Version, cause: cause}
	ch.before, ch.after = s.commit(e.Key, e.After)
	if e.After == nil && c.world.History.Forget > 0 {
		s.removed = append(s.removed, removal{s.latest[e.Key], e.Version})
	}
	c.noted = append(c.noted, ch)
	for _, p := range c.processes {
		if i := p.informers[s.kind]; i != nil && i.synced && !p.Down { // a process that is down gets no events
			i.stream.push(ch)
			i.notice()
		}
	}
	c.forget()
}

// forget compacts old revisions if the history forgets old records. At least [sim.History].Forget revisions stay.
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

// forgetKinds drops outdated keys of c.states: each change of a CRD creates a new Kind. The first and the current Kind
// of a CRD stay. A late request with another Kind finds the state of the first one.
func (c *Cluster) forgetKinds() {
	served := c.server.Kinds()
	maps.DeleteFunc(c.states, func(k *fakeapi.Kind, s *kindState) bool {
		return s.kind != k && !slices.Contains(served, k)
	})
}

// find returns the index of the first note about this revision or a later one.
func (c *Cluster) find(revision uint64) int {
	i, _ := slices.BinarySearchFunc(c.noted, revision, func(ch change, r uint64) int {
		return cmp.Compare(ch.version, r)
	})
	return i
}

// since returns the changes to a kind after a revision. An object that existed when the cluster learned of the kind
// counts as created at the revision s.met.
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

// listAt returns the list of a kind at a revision: the versions in key order (items), the changes after the revision
// (later), and the revision (at). If the revision was compacted, listAt uses the oldest revision that the server keeps.
func (c *Cluster) listAt(s *kindState, revision uint64) (items []*version, later []change, at uint64) {
	at = max(revision, c.server.Oldest(s.kind))
	later = c.since(s, at)
	if at < s.met {
		return nil, later, at
	}
	then := make(map[string]*version, len(later)) // key of a changed object -> version before the changes
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

// digestBefore adds the lists at a revision, and the changes after it. A process that restarts with a lagging server
// receives both.
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

// digestLast adds the changes of the last n revisions, newest first, each with the object's version before the change.
// This is enough: a list at one of these revisions has the current objects, without the later changes.
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

// DigestHistory adds every change with its revision. Worlds in which a process may list at any revision need it.
func (c *Cluster) DigestHistory(h *sim.Hash) {
	for _, s := range c.order {
		for _, ch := range c.since(s, 0) {
			h.Word(ch.version)
			ch.digest(h)
		}
	}
}

// behind implements Behind of [Env]. A positive result counts as a read by the running reconcile. The result 0 is no
// read, because the reconcile continues as if it had not called behind.
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

// behind returns the number of deliveries until the cache is as new as a revision.
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

// upTo counts the changes up to and including the first one at this revision or later. If there is none, it counts all.
func upTo(changes []change, revision uint64) int {
	for n := range changes {
		if changes[n].version >= revision {
			return n + 1
		}
	}
	return len(changes)
}

// kindState holds what the cluster adds to the server's objects of one kind: the latest [version] of every key, and
// digests of the stored versions.
type kindState struct {
	kind            *fakeapi.Kind
	salt            uint64
	met             uint64              // the server's revision when the cluster learned of the kind
	latest          map[string]*version // by key; the version of a removed key has no object
	removed         []removal           // removals, oldest first; empty if the history keeps all records
	exact, abstract uint64
	buf             []byte // reused for the keys of look-ups
}

// removal is the last version of a removed key, and the revision of the removal.
type removal struct {
	version  *version
	revision uint64
}

// current returns the latest version of an object, without allocating. For a removed object, the result is nil or a
// version without obj.
func (s *kindState) current(namespace, name string) *version {
	s.buf = s.buf[:0]
	if namespace != "" {
		s.buf = append(append(s.buf, namespace...), '/')
	}
	s.buf = append(s.buf, name...)
	return s.latest[string(s.buf)]
}

// commit stores a new version of a key. obj is nil for a removal. It returns the versions before and after; nil means
// that the object does not exist.
func (s *kindState) commit(key string, obj runtime.Object) (before, after *version) {
	return s.commitVersion(key, obj, newVersion)
}

// commitVersion is like commit, but creates the version with the parameter newVersion.
func (s *kindState) commitVersion(key string, obj runtime.Object, newVersion func(salt uint64, key string, n uint32,
	obj runtime.Object) *version) (before, after *version) {
	old := s.latest[key]
	n := uint32(1)
	if old != nil {
		n = old.n + 1
		s.exact -= sim.Mix(old.exact)
		if old.obj != nil {
			s.abstract -= sim.Mix(old.abstract)
			before = old
		}
	}
	v := newVersion(s.salt, key, n, obj)
	if obj == nil && before != nil {
		v.exact = sim.Mix(v.exact ^ sim.HashString(string(old.meta.GetUID()))) // the digest includes the removed UID
	}
	s.latest[key] = v
	s.exact += sim.Mix(v.exact)
	if obj == nil {
		return before, nil
	}
	s.abstract += sim.Mix(v.abstract)
	return before, v
}

// forget drops the versions of keys that were removed at this revision or earlier and not created again. The digests of
// these versions remain part of the state's digest.
func (s *kindState) forget(revision uint64) {
	n := 0
	for ; n < len(s.removed) && s.removed[n].revision <= revision; n++ {
		if v := s.removed[n].version; s.latest[v.key] == v {
			delete(s.latest, v.key)
		}
	}
	kept := copy(s.removed, s.removed[n:])
	clear(s.removed[kept:])
	s.removed = s.removed[:kept]
}
