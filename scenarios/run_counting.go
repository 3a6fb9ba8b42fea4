package scenarios

import (
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

// counting says which breaches count, and which of them fail a run.
type counting struct {
	judge    *law.Judge
	strict   bool              // races lost count as broken laws
	prefer   string            // the law that is looked for, by its clause; "" for any
	only     map[*law.Law]bool // the laws that count; nil for all
	turns    []turn            // which laws counted from which breach on
	accepted int               // breaches already accounted for
}

// turn is which laws count from a breach on.
type turn struct {
	from int               // index of the breach
	only map[*law.Law]bool // nil for all
}

// narrow makes only these laws count from here on, nil for all.
func (c *counting) narrow(only map[*law.Law]bool) {
	c.only = only
	c.turns = append(c.turns, turn{len(c.judge.Breaches()), only})
}

// counts reports whether a breach is shown: its law is one that counts.
func (c *counting) counts(b *law.Breach) bool { return c.only == nil || c.only[b.Law] }

func (c *counting) fails(b *law.Breach) bool {
	return c.counts(b) && (c.strict || b.Strength == law.Informed)
}

// accept counts the breaches so far as accounted for.
func (c *counting) accept() { c.accepted = len(c.judge.Breaches()) }

// pending is the first breach not accounted for that fails the run.
func (c *counting) pending() *law.Breach { return c.first(c.accepted) }

// first is the first breach from an index on that fails the run. Of several by
// one record it is the one that the run is looking for.
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

// counted are the breaches of the laws that counted when they were broken, fit
// to be shown.
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
