package render

import (
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Cast knows which controllers reconcile which kinds in a run. If an object could mean two controllers, a line names
// the controller.
type Cast struct {
	only map[string]string // kind -> the controller that reconciles it
	many map[string]bool   // kinds that several controllers reconcile
}

// CastOf derives the cast from a history. Instances of one controller count as one.
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

// Shared returns the number of kinds that several controllers reconcile. When it grows, earlier actors get other names.
func (c *Cast) Shared() int { return len(c.many) }

// Who names the actor: the reconciled object, with the instance's number if there are several ("rs/a#2"), and after the
// process if controllers share the kind ("widget-a: cm/shared"); or else the process.
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
