package trial

import (
	"fmt"

	"github.com/threelaws/threelaws/internal/difference"
	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
)

// growth finds fights whose state never recurs because it grows: a counter in an
// annotation, objects that pile up. One sync's object that is written for again
// and again, in the same way and by nobody's order, is not coming to rest.
type growth struct {
	writes int // since the user or a fault last had a hand in it
	doing  map[doing]*done
	hit    *done // what has just been done too often
	most   int   // ways of writing that are kept; 0: all
}

// doing is one way of writing: who, for what, to what. An object that is created
// has no name here: each has another.
type doing struct {
	process, verb, subresource string
	owner, object              sim.Ref
}

type done struct {
	doing
	count int
	next  int    // the count at which it is looked at
	last  [3]int // the last records of it
}

// Few writes are not counted at all, so that worlds that come to rest pay
// nothing; then one way of writing is looked at when it was used so often.
const (
	growthFrom = 250
	growthMost = 1000
)

func (g *growth) reset() {
	g.writes, g.hit = 0, nil
	clear(g.doing)
}

// told reports whether a commit only tells of something: an Event that counts up how often
// it was so.
func told(r *sim.Record) bool { return r.Object.Kind == "Event" }

// note takes in a commit.
func (g *growth) note(r *sim.Record) {
	if told(r) {
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
		if g.most > 0 && len(g.doing) >= g.most { // those that go on will be counted again
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

// endless reports whether what was done so often has no end in sight: an owner
// that says how many dependents it wants is judged by that (EXACT-2), and in a
// large world one object may well be written for every other.
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

// grows words what is done for ever.
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
