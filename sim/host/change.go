package host

import "github.com/threelaws/threelaws/sim"

// change is one change of an object, as a watch delivers it: a create, an update or a removal.
type change struct {
	version       uint64   // the server's resourceVersion; 0 for none
	before, after *version // before is nil for a create; after is nil for a removal
	cause         int      // index of the commit's record; -1 for none
	tombstone     bool     // the removal was seen only in a relist: the list lacks the object
	resync        bool     // the object is delivered again, unchanged
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

// changeFlags returns four properties of a change as bits: removal, resync, tombstone, and part of the initial list.
func changeFlags(c *change, initial bool) uint64 {
	var f uint64
	for i, is := range [...]bool{c.after == nil, c.resync, c.tombstone, initial} {
		if is {
			f |= 1 << i
		}
	}
	return f
}

func (c *change) abstract() uint64 {
	if c.after != nil {
		return sim.Mix(c.after.abstract)
	}
	return sim.Mix(^c.before.abstract)
}

// stream is the queue between a watch and its informer. It holds the changes that are not delivered yet, oldest first.
type stream struct {
	changes []change
	gone    int  // number of delivered entries at the beginning of changes
	digest  fifo // digest of the changes that are not delivered
}

func streamOf(changes []change) stream {
	var s stream
	for _, c := range changes {
		s.push(c)
	}
	return s
}

// waiting returns the undelivered changes, oldest first. The slice is valid until the next push.
func (s *stream) waiting() []change { return s.changes[s.gone:] }

func (s *stream) len() int { return len(s.changes) - s.gone }

// push appends a change. It reuses the memory of delivered changes before it allocates.
func (s *stream) push(c change) {
	s.digest.push(c.abstract())
	if len(s.changes) == cap(s.changes) && s.gone > len(s.changes)/2 {
		n := copy(s.changes, s.waiting())
		clear(s.changes[n:])
		s.changes, s.gone = s.changes[:n], 0
	}
	s.changes = append(s.changes, c)
}

func (s *stream) pop() change {
	c := s.changes[s.gone]
	s.digest.pop(c.abstract())
	s.changes[s.gone] = change{}
	if s.gone++; s.gone == len(s.changes) {
		s.changes, s.gone = s.changes[:0], 0
	}
	return c
}
