package render

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// span returns the part of a history around a violation: its first record, and the record after its step.
func (p *Page) span(h *sim.History) (first, last int) {
	r := h.At(p.Breach.Record)
	first = r.Index
	for _, i := range p.Breach.Cycle {
		if h.At(i) != nil {
			first = min(first, i)
		}
	}
	if w := p.lastWrite(); r.Op == sim.Settled && w != nil {
		first = min(first, w.Records[0]) // a settled world changes nothing by itself
	}
	last = r.Index + 1
	for h.At(last) != nil && h.At(last).Step == r.Step {
		last++
	}
	return first, last
}

// lastWrite returns the last line with a change, or nil.
func (p *Page) lastWrite() *Line {
	for i := len(p.Lines) - 1; i >= 0; i-- {
		if p.Lines[i].Write {
			return &p.Lines[i]
		}
	}
	return nil
}

// trees draws the objects related to the violation, before and after it.
func (p *Page) trees(h *sim.History) {
	r := h.At(p.Breach.Record)
	if r == nil {
		return
	}
	first, last := p.span(h)
	before, after := Objects(h, first), Objects(h, last)
	refs := p.concerned(h, r, append(slices.Clone(before), after...))
	p.concern(h, refs)
	x, y := Related(before, refs...), Related(after, refs...)
	if len(x)+len(y) == 0 {
		x, y = before, after
	}
	if len(x)+len(y) == 0 {
		return // an empty world
	}
	p.Before, p.After = pane(x, "(not there yet)"), pane(y, "(gone)")
	p.heads = [2]int{p.Step(), p.Step()}
	for i := range p.Lines {
		if rs := p.Lines[i].Records; rs[len(rs)-1] >= first {
			p.heads[0] = min(p.heads[0], p.Lines[i].N)
			break
		}
	}
	p.drawn = len(p.Breach.Cycle) > 0 ||
		slices.ContainsFunc(Objects(h, h.Len()), func(o Object) bool { return len(o.Owners) > 0 })
}

// pane returns a tree, or the text none if there are no objects.
func pane(objs []Object, none string) string {
	if len(objs) == 0 {
		return none + "\n"
	}
	return Tree(objs)
}

// concerned lists the objects of a violation and their owners: those of its records, and those that its text names.
func (p *Page) concerned(h *sim.History, r *sim.Record, objs []Object) []sim.Ref {
	refs := []sim.Ref{r.Object, r.For}
	for _, i := range p.Breach.Cycle {
		if c := h.At(i); c != nil {
			refs = append(refs, c.Object, c.For)
		}
	}
	refs = slices.DeleteFunc(refs, sim.Ref.IsZero)
	words := strings.FieldsFunc(p.Breach.Text, func(c rune) bool { return strings.ContainsRune(" ,;:()", c) })
	for _, o := range objs {
		if slices.Contains(words, o.Ref.String()) {
			refs = append(refs, o.Ref)
		}
	}
	for i, ref := range refs { // a refused request may not name the uid
		for _, o := range objs {
			if ref.UID == "" && o.Ref.Kind == ref.Kind && o.Ref.Key() == ref.Key() {
				refs[i] = o.Ref
			}
		}
	}
	return append(refs, ownersAmong(objs, refs)...)
}

// ownersAmong lists the owners of the given objects, so that both trees show them.
func ownersAmong(objs []Object, refs []sim.Ref) []sim.Ref {
	var owners []sim.Ref
	for _, o := range objs {
		if !slices.Contains(refs, o.Ref) {
			continue
		}
		for _, w := range o.Owners {
			owners = append(owners, w.Ref)
		}
	}
	return owners
}
