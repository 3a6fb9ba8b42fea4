package bubble

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Nobody can see which timers a program has set. So time passes in the room by steps of
// its own that grow: each ends at once when a program asks something, and when the longest
// has passed in vain the programs are at rest. That is after seven minutes in all, longer
// than upstream's expectations last (five) and than client-go's queues wait to try for the
// sixteenth time. A program that acts later by itself needs a settle with a time of its own.
//
// One that asks something by itself after so long a quiet as client-go's queues leave between late
// retries has a key that waits longer yet: then they are at rest only when nothing has changed for
// longer than those queues ever wait, so that the key was tried once more since. Events that say that
// it was tried in vain change nothing.
const (
	firstWait = 5 * time.Millisecond // as the first retry of client-go's queues
	longer    = 4
	lastWait  = firstWait << 16

	late    = firstWait << 13    // between two retries: a key waits that may wait longer than lastWait
	longest = 1010 * time.Second // what client-go's queues wait at most, and what a try takes
)

// idling is how long the programs of a room have asked nothing.
type idling struct {
	clock *sim.Clock
	wait  time.Duration
	alarm *sim.Alarm
	stir  bool

	since   time.Duration // when something happened last in the room
	retries bool          // some key is tried again at long intervals
	seen    int           // records that were looked at
	changed time.Duration // when an object changed last
}

// passes is the label of the room's alarm.
const passes = "time passes"

// stir is called when something has happened in the room: from here on time may bring
// something.
func (r *room) stir() {
	w := &r.idle
	w.since = w.clock.Elapsed()
	if w.alarm != nil {
		if w.wait == firstWait && w.alarm.At == w.clock.Elapsed()+firstWait {
			return
		}
		w.clock.Stop(w.alarm)
	}
	w.wait = firstWait
	w.alarm = w.clock.After(w.wait, "", passes, r.passed)
}

// passed is told that time has passed in vain.
func (r *room) passed() {
	w := &r.idle
	w.alarm = nil
	if w.wait < lastWait {
		w.wait = min(longer*w.wait, lastWait)
		w.alarm = w.clock.After(w.wait, "", passes, r.passed)
		return
	}
	if more := r.lastChange() + longest - w.clock.Elapsed(); w.retries && more > 0 {
		w.alarm = w.clock.After(more, "", passes, r.passed)
		return
	}
	for _, s := range r.syncs {
		s.stuck()
	}
}

// asked is told that a program has asked something by itself, when time had passed to there.
func (r *room) asked(there time.Duration) {
	w := &r.idle
	w.retries = w.retries || there-w.since >= late
	r.stir()
	w.since = there
}

// wake lets time pass once more where something has changed that no program is told of, and a key
// waits that may do with it.
func (r *room) wake() {
	w := &r.idle
	if w.retries && w.alarm == nil && w.clock.Elapsed() < r.lastChange()+longest {
		r.stir()
	}
}

// lastChange is when an object changed last that is no event.
func (r *room) lastChange() time.Duration {
	w, h := &r.idle, r.cluster.World().History
	for ; w.seen < h.Len(); w.seen++ {
		if x := h.At(w.seen); x.Op == sim.Commit && x.Object.Kind != "Event" {
			w.changed = x.At
		}
	}
	return w.changed
}
