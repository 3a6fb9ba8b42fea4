package render

import (
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Cast knows which controllers sync what in a run, so that a line names the
// controller where its object alone could mean two.
type Cast struct {
	only map[string]string // kind -> the controller that syncs it
	many map[string]bool   // kinds that several controllers sync
}

// CastOf takes the cast from a history. Instances of one controller are one.
func CastOf(h *sim.History) *Cast {
	c := &Cast{only: map[string]string{}, many: map[string]bool{}}
	for i := range h.Records {
		r := &h.Records[i]
		if r.For.IsZero() || r.Process == "" {
			continue
		}
		name, _, _ := strings.Cut(r.Process, "#")
		if was, ok := c.only[r.For.Kind]; !ok {
			c.only[r.For.Kind] = name
		} else if was != name {
			c.many[r.For.Kind] = true
		}
	}
	return c
}

// Shared is how many kinds several controllers sync. Where that grows, who acted before is
// said otherwise.
func (c *Cast) Shared() int { return len(c.many) }

// Who says who acted: the object being synced, with the instance's number
// where there is more than one ("rs/a#2"), and the process in front where
// controllers share the kind ("widget-a: cm/shared"); or else the process.
func (c *Cast) Who(r *sim.Record) string {
	if r.For.IsZero() {
		return r.Process
	}
	if c.many[r.For.Kind] {
		return r.Process + ": " + r.For.String()
	}
	if _, n, ok := strings.Cut(r.Process, "#"); ok {
		return r.For.String() + "#" + n
	}
	return r.For.String()
}
