package host

import "github.com/threelaws/threelaws/sim"

// change is one change to one object, as a watch of its kind delivers it.
type change struct {
	version       uint64   // the server's revision; 0 for none
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

// abstract digests the change as [version.abstract] does an object.
func (c *change) abstract() uint64 {
	if c.after != nil {
		return sim.Mix(c.after.abstract)
	}
	return sim.Mix(^c.before.abstract)
}

// stream is what a watch has sent and its informer has not been delivered: first
// in, first out. It digests what waits as a polynomial in base, modulo 2^64, the oldest
// change first: it is asked after every write, of every stream, and most have not moved.
type stream struct {
	changes []change
	gone    int    // how many of them are delivered
	sum     uint64 // digest of those that are not
	weight  uint64 // base to the power of how many wait but for one: of the oldest in sum
}

// The base of streams' digests, and its inverse.
const base, inverse uint64 = 0x9e3779b97f4a7c15, 0xf1de83e19937733d

// streamOf is a stream in which changes wait.
func streamOf(changes []change) stream {
	var s stream
	for _, c := range changes {
		s.push(c)
	}
	return s
}

// waiting are the changes in the stream, oldest first. They are good until the
// next push.
func (s *stream) waiting() []change { return s.changes[s.gone:] }

func (s *stream) len() int { return len(s.changes) - s.gone }

// push appends a change; it takes the place of delivered ones before it asks for
// more.
func (s *stream) push(c change) {
	if s.weight *= base; s.len() == 0 {
		s.weight = 1
	}
	s.sum = s.sum*base + c.abstract()
	if len(s.changes) == cap(s.changes) && s.gone > len(s.changes)/2 {
		n := copy(s.changes, s.waiting())
		clear(s.changes[n:])
		s.changes, s.gone = s.changes[:n], 0
	}
	s.changes = append(s.changes, c)
}

// pop takes out the oldest change.
func (s *stream) pop() change {
	c := s.changes[s.gone]
	s.sum -= s.weight * c.abstract()
	s.weight *= inverse
	s.changes[s.gone] = change{}
	if s.gone++; s.gone == len(s.changes) {
		s.changes, s.gone = s.changes[:0], 0
	}
	return c
}
