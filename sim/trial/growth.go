package trial

import (
	"fmt"

	"github.com/threelaws/threelaws/internal/difference"
	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
)

// growth finds fights whose state never recurs because it grows: a counter in an annotation, objects that
// pile up. A process that writes for one object again and again, in the same way, does not settle.
type growth struct {
	writes int // since the last act of the user or fault
	doing  map[doing]*done
	hit    *done // what has just reached its limit
	most   int   // entries of doing that are kept; 0: all
}

// doing is one way of writing: the writer, its purpose and its target. A created object has no name here,
// since each has another.
type doing struct {
	process, verb, subresource string
	owner, object              sim.Ref
}

type done struct {
	doing
	count int
	next  int    // the count at which it is examined next
	last  [3]int // its last records
}

// The first growthFrom writes are not counted, so that worlds that settle pay nothing. A way of writing is
// examined after every growthMost uses.
const (
	growthFrom = 250
	growthMost = 1000
)

func (g *growth) reset() {
	g.writes, g.hit = 0, nil
	clear(g.doing)
}

// reportsOnly reports whether a commit only reports something, as an Event does, which counts how often it
// happened.
func reportsOnly(r *sim.Record) bool { return r.Object.Kind == "Event" }

func (g *growth) note(r *sim.Record) {
	if reportsOnly(r) {
		return
	}
	if g.writes++; g.writes < growthFrom || r.After == nil {
		return
	}
	what := doing{process: r.Process, verb: r.Verb, subresource: r.Subresource, owner: r.For, object: r.Object}
	if r.Before == nil {
		what.object = sim.Ref{Kind: r.Object.Kind, Namespace: r.Object.Namespace}
	}
	if g.doing == nil {
		g.doing = map[doing]*done{}
	}
	d := g.doing[what]
	if d == nil {
		if g.most > 0 && len(g.doing) >= g.most { // those that continue are counted again
			clear(g.doing)
		}
		d = &done{doing: what, next: growthMost}
		g.doing[what] = d
	}
	d.count++
	d.last[0], d.last[1], d.last[2] = d.last[1], d.last[2], r.Index
	if d.count >= d.next {
		d.next += growthMost
		g.hit = d
	}
}

// endless reports whether repeated writes have no end in sight. An owner that declares its number of
// dependents is judged by that (EXACT-2). In a large world one object may be written once for every other.
func (t *Trial) endless(d *done) bool {
	p := t.Cluster.Process(d.process)
	if d.object.Name == "" {
		return p == nil || p.Controller().Contract.Replicas == nil
	}
	if r := t.World.History.At(d.last[2]); r != nil && fight.OnlyTimes(r.Before, r.After) {
		return false // a heartbeat
	}
	return d.count > 8*t.objects()
}

func (t *Trial) grows(d *done) string {
	who := d.process
	if !d.owner.IsZero() {
		who = d.owner.String()
	}
	if d.object.Name == "" {
		return fmt.Sprintf("%s has made %d objects of kind %s and makes more", who, d.count, d.object.Kind)
	}
	text := fmt.Sprintf("%s has written %s %d times and goes on", who, d.object, d.count)
	if r := t.World.History.At(d.last[2]); r != nil {
		if path, was, is := fight.FirstDifference(r.Before, r.After); path != "" {
			was, is = difference.Shorten(was, is)
			text += fmt.Sprintf(": %s: %s -> %s", path, was, is)
		}
	}
	return text
}
