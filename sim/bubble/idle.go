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
const (
	firstWait = 5 * time.Millisecond // as the first retry of client-go's queues
	longer    = 4
	lastWait  = firstWait << 16
)

// idling is how long the programs of a room have asked nothing.
type idling struct {
	clock *sim.Clock
	wait  time.Duration
	alarm *sim.Alarm
	stir  bool
}

// passes is the label of the room's alarm.
const passes = "time passes"

// stir is called when something has happened in the room: from here on time may bring
// something.
func (r *room) stir() {
	w := &r.idle
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
	for _, s := range r.syncs {
		s.stuck()
	}
}
