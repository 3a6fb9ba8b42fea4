package scenarios

import (
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

// counting decides which violations count, and which of them fail a run.
type counting struct {
	judge    *law.Judge
	strict   bool              // lost races count as violations
	prefer   string            // the law that is looked for, by its clause; "" for any
	only     map[*law.Law]bool // the laws that count; nil for all
	turns    []turn            // which laws counted, from which violation on
	accepted int               // violations already handled
}

// turn says which laws count from a violation on.
type turn struct {
	from int               // index of the violation
	only map[*law.Law]bool // nil for all
}

// narrow restricts the laws that count from here on; nil means all.
func (c *counting) narrow(only map[*law.Law]bool) {
	c.only = only
	c.turns = append(c.turns, turn{len(c.judge.Breaches()), only})
}

// counts reports whether the law of a violation counts, so that it is shown.
func (c *counting) counts(b *law.Breach) bool { return c.only == nil || c.only[b.Law] }

func (c *counting) fails(b *law.Breach) bool {
	return c.counts(b) && (c.strict || b.Strength == law.Informed)
}

// accept marks the violations so far as handled.
func (c *counting) accept() { c.accepted = len(c.judge.Breaches()) }

// pending returns the first unhandled violation that fails the run.
func (c *counting) pending() *law.Breach { return c.first(c.accepted) }

// first returns the first violation from an index on that fails the run. If one record causes several, it prefers the
// one that the run looks for.
func (c *counting) first(from int) *law.Breach {
	bs := c.judge.Breaches()
	var first *law.Breach
	for i := min(from, len(bs)); i < len(bs); i++ {
		switch b := &bs[i]; {
		case !c.fails(b):
		case first == nil:
			first = b
		case b.Record == first.Record && b.Law.ID == c.prefer:
			return b
		}
		if first != nil && (c.prefer == "" || first.Law.ID == c.prefer) {
			return first
		}
	}
	return first
}

// counted returns the violations of the laws that counted at that time, as marks for rendering.
func (c *counting) counted() []render.Mark {
	var all []render.Mark
	var only map[*law.Law]bool
	turn := 0
	for i, b := range c.judge.Breaches() {
		for ; turn < len(c.turns) && c.turns[turn].from <= i; turn++ {
			only = c.turns[turn].only
		}
		if only == nil || only[b.Law] {
			all = append(all, render.MarkOf(b))
		}
	}
	return all
}
