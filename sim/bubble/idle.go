package bubble

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Nobody can see which timers a program has set. So time passes in the room by steps of
// its own that grow: each ends at once when a program asks something, and when the longest
// has passed in vain the programs are at rest.
const (
	firstWait = 5 * time.Millisecond // as the first retry of client-go's queues
	longer    = 4
	lastWait  = 20 * time.Minute // longer than the last of them, which is 1,000 s
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
	}
}
