package trial

import (
	"fmt"
	"time"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// ownTrigger finds a controller that triggers itself: it writes only a time of day, the event of that write
// starts its next reconcile, and that writes the time again. The state never recurs, since time passes, and
// nothing grows.
type ownTrigger struct {
	runs map[int][]int // a write -> the writes that led to it, and itself
	hit  []int
}

// ownRounds is how many writes in a row must each follow from the one before. A timer in between, as for a
// heartbeat or a renewal, starts the count again.
const ownRounds = 3

func (o *ownTrigger) reset() {
	clear(o.runs)
	o.hit = nil
}

func (o *ownTrigger) note(h *sim.History, r *sim.Record) {
	if r.Before == nil || r.After == nil || reportsOnly(r) || r.Object.Kind == "Lease" {
		return
	}
	// Only the passing of time allows such a write again, and it passes in few worlds.
	before := triggerOf(h, r)
	if before == nil && r.At == 0 || !fight.OnlyTimes(r.Before, r.After) {
		return
	}
	run := []int{r.Index}
	if before != nil {
		run = append(append([]int(nil), o.runs[before.Index]...), r.Index)
		delete(o.runs, before.Index)
	}
	if len(run) > ownRounds+1 {
		run = run[1:]
	}
	if o.runs == nil {
		o.runs = map[int][]int{}
	}
	if o.runs[r.Index] = run; len(run) == ownRounds+1 {
		o.hit = run
	}
}

// triggerOf returns the write whose event started the reconcile that made a write, if one process made both;
// otherwise nil. Reconciles of programs are invisible: their event must be less than a second old, or a timer
// may be the trigger.
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
	return fmt.Sprintf("%s triggers itself: each of its last %d writes to %s follows from the event of the one before, and "+
		"changes only times (%s: %s -> %s)", render.CastOf(h).Who(last), ownRounds, last.Object, path, was, is)
}
