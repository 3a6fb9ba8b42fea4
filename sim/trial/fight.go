package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// watch looks for fights while a trial runs (NOFIGHT-1).
type watch struct {
	tally    tally
	detector fight.Detector
	growth   growth
	own      ownTrigger
	threads  map[[2]string]string // (process, kind) -> name of the thread of these deliveries, such as "web sees Pod"
	deed     stepped
	rounds   int           // how often states recurred since the last user action or fault
	since    time.Duration // when a state recurred first in these rounds
	cycle    []int         // record indexes of a fight that is not yet in the history; nil for none
}

type tally struct {
	writes    int // number of commits since the trial began, without status writes
	committed int // the step of the last commit, plus the number of later steps in a lull (see pass)
}

// stepped describes the last step for the fight detector.
type stepped struct {
	thread  string // name of the process; for a delivery, a name such as "web sees Pod"
	record  int    // index of the last commit in the step; -1 for none
	object  sim.Ref
	outside bool // a user action or a fault happened in the step
}

// fightRounds is how often a state must recur before a cycle counts as a fight. One recurrence is not enough: by
// chance, two instances of one controller may undo each other's work once.
const fightRounds = 3

// programRounds replaces fightRounds in worlds with whole programs, because the host cannot see their queues, so states
// that look equal may differ. It also replaces fightRounds if one controller writes only to statuses (see reports).
const programRounds = 12

func (t *Trial) enough() int {
	if slices.ContainsFunc(t.Cluster.Processes(), (*host.Process).IsProgram) {
		return programRounds
	}
	return fightRounds
}

func (w *watch) init(t *Trial) {
	w.threads = map[[2]string]string{}
	w.detector.Busy = t.busy
	w.deed = stepped{record: -1}
}

func (w *watch) reset() {
	w.detector.Reset()
	w.growth.reset()
	w.own.reset()
	w.rounds, w.cycle = 0, nil
	w.deed = stepped{record: -1}
}

// observer counts the writes of a run, and notes which thread acted in the current step.
type observer Trial

// Observe handles one record. A deletion request and the removal of the object in the same step count as one write.
func (o *observer) Observe(r *sim.Record) {
	w := &o.fight
	d := &w.deed
	if r.Op == sim.Commit {
		w.tally.committed = r.Step
		if r.Subresource != "status" && (d.record < 0 || d.object != r.Object) {
			w.tally.writes++
		}
		d.record, d.object = r.Index, r.Object
		w.growth.note(r)
		w.own.note(&o.World.History, r)
	}
	if r.Op == sim.Delivery {
		d.thread = w.thread(r.Process, r.Object.Kind)
	} else {
		d.thread = r.Process
	}
	d.outside = d.outside || r.Op == sim.FaultHit && r.Verb != "synced" || r.Op == sim.Commit &&
		o.Cluster.Process(r.Process) == nil
	if !(*Trial)(o).polls(r) {
		t := (*Trial)(o)
		o.rest.note(r, (r.Op == sim.SyncEnd || r.Op == sim.Refusal) && t.withheld(r.Process), t.ignored)
	}
}

// Digest adds nothing, because the counters only decide when [Trial.Settle] stops. Whether a fight continues depends
// only on the world's state.
func (o *observer) Digest(*sim.Hash) {}

func (t *Trial) watch() {
	w := &t.fight
	d := w.deed
	w.deed = stepped{record: -1}
	if d.thread == "" {
		return
	}
	var hash uint64
	if d.record >= 0 {
		hash = t.Cluster.AbstractHash()
	}
	if d.outside {
		w.rounds = 0
		w.growth.reset()
		w.own.reset()
	}
	if cycle, found := w.detector.Observe(hash, d.record, d.thread, d.record >= 0, d.outside); found {
		now := t.World.Clock.Elapsed()
		if w.rounds++; w.rounds == 1 {
			w.since = now
		}
		most, reports := t.enough(), t.reports(cycle)
		if reports {
			most = programRounds
		}
		if w.rounds < most {
			return
		}
		if !reports || now-w.since < againLeast*time.Duration(w.rounds-1) {
			w.cycle = cycle
		}
		w.rounds = 0
	}
}

func (w *watch) thread(process, kind string) string {
	key := [2]string{process, kind}
	name, ok := w.threads[key]
	if !ok {
		name = process + " sees " + kind
		w.threads[key] = name
	}
	return name
}

// busy lists the threads that have an enabled action. If a busy thread takes no part in a cycle, the cycle is no fight.
// It repeats only because the schedule never chose that thread.
func (t *Trial) busy() []string {
	var names []string
	for _, a := range t.World.Enabled() {
		switch {
		case a.Class == sim.Deliver:
			names = append(names, t.fight.thread(a.Actor, a.Detail))
		case a.Class <= sim.Work:
			names = append(names, a.Actor)
		}
	}
	return names
}

// fought reports whether the last step completed a fight: a cycle, a controller that triggers itself, or endless
// growth. It records the fight in the history.
func (t *Trial) fought() bool {
	t.watch()
	w := &t.fight
	r := sim.Record{Op: sim.Fighting, Verb: "fight"}
	switch {
	case w.cycle != nil:
		cycle := w.cycle
		w.cycle = nil
		w.detector.Reset()
		switch {
		case t.blindIn(cycle) || t.starves(cycle[0]) || t.passesOn(cycle):
			return false
		case t.relistsIn(cycle):
			t.World.Do("wait", func() { t.World.Clock.Advance(time.Second) })
			return false
		}
		r.Cause, r.Reason, r.Message = cycle[0], fight.CycleReason(cycle), t.recurs(cycle)
	case w.own.hit != nil:
		r.Cause, r.Reason, r.Message = w.own.hit[0], fight.CycleReason(w.own.hit[1:]), t.triggersItself(w.own.hit)
		w.own.reset()
	case w.growth.hit != nil:
		what := w.growth.hit
		w.growth.hit = nil
		if !t.endless(what) || t.starves(what.last[0]) {
			return false
		}
		r.Cause, r.Reason, r.Message = what.last[0], fight.CycleReason(what.last[1:]), t.grows(what)
	default:
		return false
	}
	t.World.Do("fight", func() { t.World.Record(r) })
	return true
}

// recurs describes a cycle: who writes what, and after how many writes the state recurs.
func (t *Trial) recurs(cycle []int) string {
	var actors, objects []string
	h := &t.World.History
	for _, i := range cycle {
		r := h.At(i)
		if r == nil {
			continue
		}
		if who := render.CastOf(h).Actor(r); !slices.Contains(actors, who) {
			actors = append(actors, who)
		}
		if what := r.Object.String(); !slices.Contains(objects, what) {
			objects = append(objects, what)
		}
	}
	how := " write "
	if len(actors) == 1 {
		how = " writes "
	}
	return fmt.Sprintf("%s%s%s again and again: the state recurs after %d writes", enumerate(actors), how, enumerate(objects), len(cycle))
}

// enumerate formats names as a list: "a", "a and b", "a, b and c", or "a, b and 2 more".
func enumerate(names []string) string {
	switch n := len(names); {
	case n < 2:
		return strings.Join(names, "")
	case n > 3:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:2], ", "), n-2)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// blindIn reports whether events are withheld from a process in the cycle. With these events, the process might end the
// cycle.
func (t *Trial) blindIn(cycle []int) bool { return t.writerIn(cycle, (*host.Process).Withheld) }

// relistsIn reports whether a whole program takes part in the cycle that has not yet listed the objects of a broken watch
// again. It does this after about a second, which the cycle would take on a real server.
func (t *Trial) relistsIn(cycle []int) bool { return t.writerIn(cycle, (*host.Process).Relisting) }

// writerIn reports whether f returns true for a process in the cycle.
func (t *Trial) writerIn(cycle []int, f func(*host.Process) bool) bool {
	return slices.ContainsFunc(cycle, func(i int) bool {
		r := t.World.History.At(i)
		if r == nil {
			return false
		}
		p := t.Cluster.Process(r.Process)
		return p != nil && f(p)
	})
}

// passesOn reports whether a dependent has another owner after a cycle than before, which the cycle did not create. The
// states before and after are equal except for UIDs, but the cycle does not repeat. For example, the garbage collector
// deletes the dependents of an earlier owner, which has the same name, and the controller creates those of the present one.
func (t *Trial) passesOn(cycle []int) bool {
	var created []types.UID
	before, after := map[sim.Ref]types.UID{}, map[sim.Ref]types.UID{} // dependent without its UID -> its owner
	for _, i := range cycle {
		r := t.World.History.At(i)
		if r == nil {
			return false
		}
		if r.Before == nil && r.After != nil {
			created = append(created, r.After.(metav1.Object).GetUID())
		}
		if _, known := before[nameOf(r)]; !known {
			before[nameOf(r)] = ownerOf(r.Before)
		}
		after[nameOf(r)] = ownerOf(r.After)
	}
	for name, owner := range before { //detcheck:ordered any of them
		if next := after[name]; owner != "" && next != "" && owner != next && !slices.Contains(created, next) {
			return true
		}
	}
	return false
}

// ownerOf returns the UID of the owner that controls an object, or "".
func ownerOf(o any) types.UID {
	if m, is := o.(metav1.Object); is {
		if ref := metav1.GetControllerOfNoCopy(m); ref != nil {
			return ref.UID
		}
	}
	return ""
}

// reports reports whether in a cycle one controller writes only to statuses. For example, a controller may report that
// it works, and then that it has worked. Such a cycle is a fight only if a state recurs more than once a second on average.
func (t *Trial) reports(cycle []int) bool {
	var writer string
	for _, i := range cycle {
		r := t.World.History.At(i)
		if r == nil || r.Subresource != "status" {
			return false
		}
		p := t.Cluster.Process(r.Process)
		if p == nil || writer != "" && p.Controller().Name != writer {
			return false
		}
		writer = p.Controller().Name
	}
	return true
}

// starves reports whether a process has waited for an answer since before the record with this index. The answer might
// end what repeats, for example if the request is a watch.
func (t *Trial) starves(record int) bool {
	return slices.ContainsFunc(t.Cluster.Processes(), func(p *host.Process) bool { return p.Starved(record) })
}

// disturbed reports whether a process is down or has a paused watch.
func (t *Trial) disturbed() bool {
	return slices.ContainsFunc(t.Cluster.Processes(), func(p *host.Process) bool {
		return p.Down && !p.StandsBy || p.Holding()
	})
}

// Settle calls loops after 512 writes (firstLook), and whenever the number of writes has quadrupled. loops examines the
// last 4000 records (lookRecords). A repetition ends the call of Settle, but is not a fight.
const (
	firstLook   = 512
	lookRecords = 4000
)

// loops reports whether the last records repeat in a world in which a process is down or has a paused watch.
func (t *Trial) loops() bool {
	if !t.disturbed() {
		return false
	}
	h := &t.World.History
	lines := render.Timeline(h, render.Options{From: max(0, h.Len()-lookRecords)})
	first, last, ok := render.Cycle(lines)
	return ok && len(lines)-first > 8*(last-first+1)
}
