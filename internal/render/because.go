package render

import (
	"github.com/threelaws/threelaws/sim"
	"strconv"
)

// views finds the commit that replaced a version of an object. Versions are shared by pointer.
type views map[any]int

func viewsOf(h *sim.History, upto int) views {
	v := views{}
	for i := range h.Records {
		r := &h.Records[i]
		if r.Index >= upto {
			break
		}
		if r.Op != sim.Commit || r.Before == nil {
			continue
		}
		if _, ok := v[r.Before]; !ok {
			v[r.Before] = r.Index
		}
	}
	return v
}

// stale reports whether a request was based on an outdated version of its object, or of the reconciled object.
func (v views) stale(r *sim.Record) bool {
	if r == nil {
		return false
	}
	_, ok := v.owner(r)
	return r.Stale() || ok
}

// owner returns the commit that had replaced the version of the reconciled object.
func (v views) owner(r *sim.Record) (int, bool) {
	if r.SawFor == nil || r.For == r.Object {
		return 0, false
	}
	k, ok := v[r.SawFor]
	return k, ok && k < r.Index
}

// causes explains lines of a timeline by other lines of it.
type causes struct {
	h     *sim.History
	lines []Line
	views views
	of    map[int]int // record -> position in lines
}

// Explain adds to each line why it happened: the outdated state that its actor had seen, and the line that triggered
// it. User actions get no explanation.
func Explain(h *sim.History, lines []Line) {
	c := &causes{h: h, lines: lines, views: viewsOf(h, h.Len()), of: map[int]int{}}
	for i := range lines {
		for _, r := range lines[i].Records {
			c.of[r] = i
		}
	}
	for i := range lines {
		lines[i].Because = c.because(&lines[i])
	}
}

func (c *causes) because(l *Line) string {
	r := c.h.At(l.Records[0])
	if r == nil || r.Process == "user" {
		return ""
	}
	why := c.stale(r)
	if l := c.cause(r); l != nil {
		why = join(why, strconv.Itoa(l.N)+": "+l.summary())
	}
	return why
}

// cause follows the causes of a record back to the nearest line, or nil.
func (c *causes) cause(r *sim.Record) *Line {
	self := c.of[r.Index]
	for r != nil && r.Cause >= 0 && r.Cause < r.Index {
		r = c.h.At(r.Cause)
		if r == nil {
			return nil
		}
		if i, ok := c.of[r.Index]; ok && i != self {
			return &c.lines[i]
		}
	}
	return nil
}

// summary describes a line for the because of another.
func (l *Line) summary() string {
	if l.Refused {
		return l.Verb + " " + l.Object + " refused"
	}
	return l.Verb + " " + l.Object
}

// stale lists the outdated versions that the actor used.
func (c *causes) stale(r *sim.Record) string {
	var why string
	if r.Stale() {
		k, ok := c.views[r.Saw]
		why = "saw " + r.Object.String() + " " + c.before(k, ok && k < r.Index)
	}
	if k, ok := c.views.owner(r); ok {
		why = join(why, "saw "+r.For.String()+" "+c.before(k, true))
	}
	return why
}

// before words "as it was before a commit".
func (c *causes) before(commit int, known bool) string {
	if i, ok := c.of[commit]; ok && known {
		return "as it was before " + strconv.Itoa(c.lines[i].N)
	}
	return "as it was earlier"
}
