package trial

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/internal/objectdiff"
	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// growth finds fights in which no state recurs, because something grows, such as a counter in an annotation or the
// number of objects. It counts how often a process writes for the same object in the same way.
type growth struct {
	writes int             // number of writes since the last user action or fault
	doing  map[doing]*done // number of uses of each way of writing; the first 250 writes are left out
	hit    *done           // an entry of doing that must be examined, after 1000 more uses; nil for none
	most   int             // the maximum number of entries in doing; 0 means no limit
}

// doing is one way of writing: the process, the verb, the reconciled object (owner) and the written object. The name of
// a created object is left out, because each creation has another name.
type doing struct {
	process, verb, subresource string
	owner, object              sim.Ref
}

type done struct {
	doing
	count int
	next  int    // the value of count at which endless is called next
	last  [3]int // indexes of the records of the last three writes
}

// The first 250 writes are not counted, because most worlds settle earlier. Later, each way of writing is examined
// after every 1000 writes.
const (
	growthFrom = 250
	growthMost = 1000
)

func (g *growth) reset() {
	g.writes, g.hit = 0, nil
	clear(g.doing)
}

// reportsOnly reports whether a commit only reports an occurrence, as Events do.
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
		if g.most > 0 && len(g.doing) >= g.most { // the counts start again from zero
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

// endless reports whether repeated writes will not end. Creations do not count if the controller's contract has
// Replicas, because EXACT-2 checks them. The limit for updates is eight times the number of objects, because one object
// may need an update for each other object. Updates that change only timestamps (heartbeats) are not endless.
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
			was, is = objectdiff.Shorten(was, is)
			text += fmt.Sprintf(": %s: %s -> %s", path, was, is)
		}
	}
	return text
}

// ownTrigger finds a controller that triggers itself: each reconcile writes only the current time, and the event of
// that write starts the next reconcile. Other detectors miss this, because nothing grows, and no state recurs while
// time passes. It also finds a controller that changes only the order of a list several times. Such a list often has the
// random order of a Go map, so the writes end by chance.
type ownTrigger struct {
	runs   map[int][]int     // index of a write -> indexes of the writes in the chain that ends with this write
	orders map[sim.Ref][]int // the last writes of a process to an object, if all of them change only the order of a list
	hit    []int             // four writes of a chain to one object, or three changes of an order, which is a fight; nil for none
}

// In a chain of writes, each write triggers the next. A chain is a fight after ownRounds triggered writes. A write that
// a timer triggered, such as the renewal of a lease, starts a new chain.
//
// A chain may contain writes to several objects, because a reconcile of a program may write several objects, and the host
// may not see which writes one reconcile makes. So each round must write the same object.
const (
	ownRounds  = 3
	longestRun = 4 * (ownRounds + 1)
)

func (o *ownTrigger) reset() {
	clear(o.runs)
	clear(o.orders)
	o.hit = nil
}

func (o *ownTrigger) note(h *sim.History, r *sim.Record) {
	if r.Before == nil || r.After == nil || reportsOnly(r) || quiet.IsLock(r.After) {
		return
	}
	if o.reorders(h, r) {
		return
	}
	// a write at time 0 without a trigger starts no chain; in most worlds, this saves all comparisons
	before := triggerOf(h, r)
	if before == nil && r.At == 0 || !fight.OnlyTimes(r.Before, r.After) {
		return
	}
	if path, _, _ := fight.FirstDifference(r.Before, r.After); path == "" { // only who owns fields has changed
		return
	}
	run := []int{r.Index}
	if before != nil {
		run = append(append([]int(nil), o.runs[before.Index]...), r.Index)
		delete(o.runs, before.Index)
	}
	if len(run) > longestRun {
		run = run[1:]
	}
	if o.runs == nil {
		o.runs = map[int][]int{}
	}
	o.runs[r.Index] = run
	again := slices.DeleteFunc(slices.Clone(run), func(i int) bool {
		w := h.At(i)
		return w == nil || w.Object != r.Object
	})
	if len(again) > ownRounds {
		o.hit = again
	}
}

// reorders notes a write, and reports whether it changes only the order of a list. Writes of another process, and writes
// for another generation of the owner, may only follow the owner: such a write begins a new count.
func (o *ownTrigger) reorders(h *sim.History, r *sim.Record) bool {
	last, before := o.orders[r.Object], &sim.Record{}
	if len(last) > 0 {
		before = h.At(last[len(last)-1])
	}
	if !fight.OnlyOrder(r.Before, r.After) {
		if before.Process == r.Process {
			delete(o.orders, r.Object)
		}
		return false
	}
	if before.Process != r.Process || generationOf(before.SawFor) != generationOf(r.SawFor) {
		last = nil
	}
	if o.orders == nil {
		o.orders = map[sim.Ref][]int{}
	}
	last = append(last, r.Index)
	if o.orders[r.Object] = last; len(last) == ownRounds {
		o.hit = last
	}
	return true
}

func generationOf(owner any) int64 {
	if o, is := owner.(metav1.Object); is {
		return o.GetGeneration()
	}
	return 0
}

// triggerOf returns the earlier write that triggered the write r, or nil. Both writes are of one process: the watch
// event of the earlier write started the reconcile that made r. The host cannot see the reconciles of a whole program.
// There, r must follow the event within a second, because a timer may have triggered a later write.
func triggerOf(h *sim.History, r *sim.Record) *sim.Record {
	event := h.At(r.Cause)
	switch {
	case event == nil:
		return nil
	case event.Op == sim.SyncStart:
		event = h.At(event.Cause)
	case r.At-event.At >= time.Second:
		return nil
	}
	if event == nil || event.Op != sim.Delivery || event.Process != r.Process {
		return nil
	}
	if w := h.At(event.Cause); w != nil && w.Op == sim.Commit && w.Process == r.Process {
		return w
	}
	return nil
}

func (t *Trial) triggersItself(run []int) string {
	h := &t.World.History
	last := h.At(run[len(run)-1])
	path, was, is := fight.FirstDifference(last.Before, last.After)
	if fight.OnlyOrder(last.Before, last.After) {
		return fmt.Sprintf("%s changes the order of a list again and again: each of its last %d writes to %s changes only that "+
			"(%s: %s -> %s); the order may be that of a Go map", render.CastOf(h).Actor(last), ownRounds, last.Object, path, was, is)
	}
	return fmt.Sprintf("%s triggers itself: each of its last %d writes to %s follows from the event of the one before, and "+
		"changes only times (%s: %s -> %s)", render.CastOf(h).Actor(last), ownRounds, last.Object, path, was, is)
}
