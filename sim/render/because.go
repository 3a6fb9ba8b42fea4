package render

import (
	"github.com/threelaws/threelaws/sim"
)

// causes explains lines of a timeline by other lines of it.
type causes struct {
	h     *sim.History
	lines []Line
	of    map[int]int // record -> position in lines
}

func newCauses(h *sim.History, lines []Line) *causes {
	c := &causes{h: h, lines: lines, of: map[int]int{}}
	for i := range lines {
		for _, r := range lines[i].Records {
			c.of[r] = i
		}
	}
	return c
}

// because says why a line happened: what its actor had seen that was no longer
// so, and the line that made it act. It is empty for the user.
func (c *causes) because(l *Line) string {
	r := c.h.At(l.Records[0])
	if r == nil || r.Process == "user" {
		return ""
	}
	why := c.stale(r)
	if n := c.cause(r); n > 0 {
		why = join(why, itoa(n)+": "+c.summary(n))
	}
	return why
}

// cause follows the causes of a record back to the nearest line.
func (c *causes) cause(r *sim.Record) int {
	self := c.of[r.Index]
	for hops := 0; r != nil && hops < c.h.Len(); hops++ {
		if r.Cause < 0 || r.Cause >= r.Index {
			return 0
		}
		r = c.h.At(r.Cause)
		if r == nil {
			return 0
		}
		if i, ok := c.of[r.Index]; ok && i != self {
			return c.lines[i].N
		}
	}
	return 0
}

// summary is what a line did, for the because of another.
func (c *causes) summary(n int) string {
	for i := range c.lines {
		l := &c.lines[i]
		if l.N != n {
			continue
		}
		if l.Refused {
			return l.Verb + " " + l.Object + " refused"
		}
		return l.Verb + " " + l.Object
	}
	return ""
}

// stale says which versions the actor went by that were no longer current.
func (c *causes) stale(r *sim.Record) string {
	var why string
	if r.Op == sim.Commit && r.Stale() {
		why = "saw " + r.Object.String() + " " + c.before(c.successor(r.Object, r.Saw, r.Index))
	}
	if r.SawFor == nil || r.For == r.Object {
		return why
	}
	if k := c.successor(r.For, r.SawFor, r.Index); k >= 0 {
		why = join(why, "saw "+r.For.String()+" "+c.before(k))
	}
	return why
}

// successor is the commit that replaced a version of an object, -1 when none
// did before the given index. Versions are shared by pointer.
func (c *causes) successor(ref sim.Ref, version any, before int) int {
	for i := 0; i < before; i++ {
		r := c.h.At(i)
		if r != nil && r.Op == sim.Commit && r.Before == version &&
			r.Object.Name == ref.Name && r.Object.Kind == ref.Kind {
			return i
		}
	}
	return -1
}

// before words "as it was before a commit".
func (c *causes) before(commit int) string {
	if commit < 0 {
		return "as it was earlier"
	}
	if i, ok := c.of[commit]; ok {
		return "as it was before " + itoa(c.lines[i].N)
	}
	return "as it was earlier"
}

// acted reports whether a line acted on a stale view.
func (c *causes) acted(l *Line) bool {
	r := c.h.At(l.Records[0])
	return r != nil && c.stale(r) != ""
}
