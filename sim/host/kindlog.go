package host

import (
	"sort"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// kindState is what the cluster knows of one kind: the latest version of every
// key, the log of changes, and digests over what is stored.
type kindState struct {
	kind            *fakeapi.Kind
	salt            uint64
	latest          map[string]*version // a removed key keeps its last, objectless version
	log             []change
	base            int    // position of log[0]
	forgotten       uint64 // revision of the change before log[0]; 0 when there is none
	exact, abstract uint64
	buf             []byte // for look-ups
}

func (s *kindState) end() int           { return s.base + len(s.log) }
func (s *kindState) at(pos int) *change { return &s.log[pos-s.base] }

// current returns the latest version of an object, without allocating; nil when
// there never was one.
func (s *kindState) current(namespace, name string) *version {
	s.buf = s.buf[:0]
	if namespace != "" {
		s.buf = append(append(s.buf, namespace...), '/')
	}
	s.buf = append(s.buf, name...)
	return s.latest[string(s.buf)]
}

// commit wraps a stored change and appends it to the log.
func (s *kindState) commit(key string, after runtime.Object, rv uint64, cause int) {
	old := s.latest[key]
	n := uint32(1)
	if old != nil {
		n = old.n + 1
		s.exact -= sim.Mix(old.exact)
		if old.obj != nil {
			s.abstract -= sim.Mix(old.abstract)
		}
	}
	v := newVersion(s.salt, key, n, after)
	if after == nil && old != nil && old.obj != nil {
		v.exact = sim.Mix(v.exact ^ sim.HashString(string(old.meta.GetUID()))) // the next of its name gets another
	}
	s.latest[key] = v
	s.exact += sim.Mix(v.exact)
	c := change{version: rv, cause: cause, after: v}
	if after == nil {
		c.after = nil
	} else {
		s.abstract += sim.Mix(v.abstract)
	}
	if old != nil && old.obj != nil {
		c.before = old
	}
	s.log = append(s.log, c)
}

// forget drops changes that everybody has been delivered, where the world keeps
// only the last steps of its history: as many as it keeps records stay.
func (c *Cluster) forget(s *kindState) {
	keep := c.world.History.Forget
	if keep == 0 {
		return
	}
	if v := c.server.Version(); v >= c.compacted+2*uint64(keep) {
		c.compacted = v - uint64(keep)
		c.server.Compact(c.compacted)
	}
	drop := len(s.log) - keep
	for _, p := range c.processes {
		if i := p.informers[s.kind]; i != nil && i.synced && !p.Down {
			drop = min(drop, i.cursor-s.base)
		}
	}
	if drop < keep {
		return
	}
	s.forgotten = s.log[drop-1].version
	n := copy(s.log, s.log[drop:])
	clear(s.log[n:])
	s.log, s.base = s.log[:n], s.base+drop
}

// snapshot returns the objects at a revision in key order, and the position in
// the log of the first change after it.
func (s *kindState) snapshot(rv uint64) ([]*version, int) {
	next := sort.Search(len(s.log), func(i int) bool { return s.log[i].version > rv })
	state := make(map[string]*version, len(s.latest))
	for _, k := range sortedKeys(s.latest) {
		if v := s.latest[k]; v.obj != nil {
			state[k] = v
		}
	}
	for i := len(s.log) - 1; i >= next; i-- {
		c := &s.log[i]
		if c.before != nil {
			state[c.key()] = c.before
		} else {
			delete(state, c.key())
		}
	}
	out := make([]*version, 0, len(state))
	for _, k := range sortedKeys(state) {
		out = append(out, state[k])
	}
	return out, s.base + next
}

// digestBefore folds what a list at a revision answers, and what follows it: what
// a process depends on that comes up to a lagging server's lists.
func (c *Cluster) digestBefore(rv uint64, h *sim.Hash) {
	for _, s := range c.order {
		s.digestBefore(rv, h)
	}
}

func (s *kindState) digestBefore(rv uint64, h *sim.Hash) {
	items, next := s.snapshot(max(rv, s.forgotten))
	for _, v := range items {
		h.Word(v.exact)
	}
	for i := next; i < s.end(); i++ {
		s.at(i).digest(h)
	}
}

// digestLast folds the last changes of all kinds in their order, and what was
// there before each: what lists at one of the last n revisions depend on.
func (c *Cluster) digestLast(n uint64, h *sim.Hash) {
	now := c.server.Version()
	for _, s := range c.order {
		for i := s.end() - 1; i >= s.base && s.at(i).version+n > now; i-- {
			ch := s.at(i)
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
		for i := range s.log {
			h.Word(s.log[i].version)
			s.log[i].digest(h)
		}
	}
}

// change is one entry of a kind's log: what a watch of that kind delivers.
type change struct {
	version       uint64
	before, after *version // nil: did not exist, was removed
	cause         int      // index of the commit's record
	tombstone     bool     // learnt from a relist
	resync        bool     // nothing changed
}

func (c *change) key() string {
	if c.after != nil {
		return c.after.key
	}
	return c.before.key
}

func (c *change) digest(h *sim.Hash) {
	if c.after != nil {
		h.Word(c.after.exact)
	} else {
		h.Word(^c.before.exact)
	}
	h.Word(changeFlags(c, false))
}

// changeFlags is what a change is besides what it changes.
func changeFlags(c *change, initial bool) uint64 {
	var f uint64
	for i, is := range [...]bool{c.after == nil, c.resync, c.tombstone, initial} {
		if is {
			f |= 1 << i
		}
	}
	return f
}

func (c *change) digestAbstract(h *sim.Hash) {
	if c.after != nil {
		h.Word(c.after.abstract)
	} else {
		h.Word(^c.before.abstract)
	}
}
