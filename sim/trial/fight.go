package trial

import (
	"slices"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// watch looks for fights while a trial settles (NOFIGHT-1).
type watch struct {
	tally    tally
	detector fight.Detector
	growth   growth
	own      ownTrigger
	threads  map[[2]string]string
	deed     stepped
	rounds   int   // recurrences since the user or a fault last had a hand in it
	cycle    []int // a fight that was found and not yet recorded
}

// tally counts what is written.
type tally struct {
	writes    int // commits that are not of status, since ever
	committed int // the step of the last commit
}

// stepped is what the last step did, for the detector of fights.
type stepped struct {
	thread  string // who: a process, or the events of one kind to one process
	record  int    // of its last commit, -1 for none
	object  sim.Ref
	outside bool // the user or a fault had a hand in it
}

// fightRounds is how often a state must recur before it is called a fight. Two
// instances of one controller may by chance undo each other's work once.
const fightRounds = 3

// programRounds is how often where whole programs run: what they have queued cannot be
// seen, and a state that looks the same may not be the same.
const programRounds = 12

// enough is how often a state must recur in this world.
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

// observer counts writes while a run goes, and notes who did what in the step.
type observer Trial

// Observe takes in one record. A removal in the step in which the deletion was
// asked for is one write with it.
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
		o.rest.note(r, (r.Op == sim.SyncEnd || r.Op == sim.Refusal) && (*Trial)(o).withheld(r.Process))
	}
}

// Digest folds nothing: what the observer counts decides only when a settle that
// does not come to rest is given up, and from a state in which a fight goes on
// it goes on whatever was counted before.
func (o *observer) Digest(*sim.Hash) {}

// watch tells the detector of fights of the last step.
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
		if w.rounds++; w.rounds >= t.enough() {
			w.cycle, w.rounds = cycle, 0
		}
	}
}

// thread names the stream of events of one kind to one process.
func (w *watch) thread(process, kind string) string {
	key := [2]string{process, kind}
	name, ok := w.threads[key]
	if !ok {
		name = process + " sees " + kind
		w.threads[key] = name
	}
	return name
}

// busy lists who can do something now: a cycle in which one of them did nothing
// is the schedule's doing. A process whose events are kept from it is no
// fighter, however often it tries again.
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

// fought reports whether the last step closed the cycle of a fight, or made the
// world grow once too often, and writes it to the history.
func (t *Trial) fought() bool {
	t.watch()
	w := &t.fight
	r := sim.Record{Op: sim.Fighting, Verb: "fight"}
	switch {
	case w.cycle != nil:
		cycle := w.cycle
		w.cycle = nil
		w.detector.Reset()
		if t.blindIn(cycle) {
			return false
		}
		r.Cause, r.Reason = cycle[0], fight.CycleReason(cycle)
	case w.own.hit != nil:
		r.Cause, r.Reason, r.Message = w.own.hit[0], fight.CycleReason(w.own.hit[1:]), t.triggersItself(w.own.hit)
		w.own.reset()
	case w.growth.hit != nil:
		what := w.growth.hit
		w.growth.hit = nil
		if !t.endless(what) {
			return false
		}
		r.Cause, r.Reason, r.Message = what.last[0], fight.CycleReason(what.last[1:]), t.grows(what)
	default:
		return false
	}
	t.World.Do("fight", func() { t.World.Record(r) })
	return true
}

// blindIn reports whether one of those who go round is kept from seeing: left
// alone it might stop.
func (t *Trial) blindIn(cycle []int) bool {
	return slices.ContainsFunc(cycle, func(i int) bool {
		r := t.World.History.At(i)
		if r == nil {
			return false
		}
		p := t.Cluster.Process(r.Process)
		return p != nil && p.Withheld()
	})
}

// disturbed reports whether the world is not left alone: a process is down, or kept
// from seeing.
func (t *Trial) disturbed() bool {
	return slices.ContainsFunc(t.Cluster.Processes(), func(p *host.Process) bool {
		return p.Down && !p.StandsBy || p.Holding()
	})
}

// After firstLook writes, and again after four times as many, the last lines
// are searched for a repetition that the law does not call a fight because the
// world is not left alone: a view is held, a process is down.
const (
	firstLook   = 512
	lookRecords = 4000
)

// loops reports whether the last records go round in a circle, in a world that is
// not left alone.
func (t *Trial) loops() bool {
	if !t.disturbed() {
		return false
	}
	h := &t.World.History
	lines := render.Timeline(h, render.Options{From: max(0, h.Len()-lookRecords)})
	first, last, ok := render.Cycle(lines)
	return ok && len(lines)-first > 8*(last-first+1)
}
