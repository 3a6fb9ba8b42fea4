// Package quiet lets time pass for whole programs, whose timers are not timers of the world, and detects when they have
// settled.
package quiet

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Time passes in steps of growing length. A step ends at once when a program makes a request. The programs have settled
// when the longest step has passed without a request, which takes seven minutes in total. That is longer than
// upstream's expectations last (five minutes), and longer than client-go's queues wait before the sixteenth retry. A
// program that acts later on its own needs a settle with an explicit time.
//
// A program may make a request after a pause as long as between late retries of client-go's queues. Then one of its
// keys may wait even longer. The program has settled only when nothing has changed for longer than the longest wait of
// those queues, so that the key was retried once more. Events do not count as changes.
const (
	firstWait = 5 * time.Millisecond // the first retry delay of client-go's queues
	longer    = 4
	lastWait  = firstWait << 16

	late    = firstWait << 13    // after such a pause between two retries, a key may wait longer than lastWait
	longest = 1010 * time.Second // the longest wait of client-go's queues, plus the retry itself
)

// passes is the label of the alarm.
const passes = "time passes"

// Quiet measures the time since the programs of a world last made a request.
type Quiet struct {
	clock   *sim.Clock
	history *sim.History
	// Next, if not nil, returns the time until the next timer of a program is due. It reports false if no timer is set.
	Next func() (time.Duration, bool)
	// Settled, if not nil, is called when the programs have settled.
	Settled func()

	wait    time.Duration
	alarm   *sim.Alarm
	since   time.Duration // time of the last activity
	retries bool          // a key is retried at long intervals
	seen    int           // number of records examined
	changed time.Duration // time of the last change of an object
}

// New returns the Quiet of a world.
func New(w *sim.World) *Quiet { return &Quiet{clock: &w.Clock, history: &w.History} }

// Stir records activity. The first step after it is short, but reaches at least the next timer of a program.
func (q *Quiet) Stir() {
	now := q.clock.Elapsed()
	q.since = now
	wait := firstWait
	if q.Next != nil {
		next, any := q.Next()
		if !any {
			next = lastWait
		}
		wait = min(max(wait, next), lastWait)
	}
	q.wait = wait
	if q.alarm != nil {
		if q.alarm.At == now+wait {
			return
		}
		q.clock.Stop(q.alarm)
	}
	q.alarm = q.clock.After(q.wait, "", passes, q.passed)
}

// passed ends a step without a request.
func (q *Quiet) passed() {
	q.alarm = nil
	if q.wait < lastWait {
		q.wait = min(longer*q.wait, lastWait)
		q.alarm = q.clock.After(q.wait, "", passes, q.passed)
		return
	}
	if more := q.lastChange() + longest - q.clock.Elapsed(); q.retries && more > 0 {
		q.alarm = q.clock.After(more, "", passes, q.passed)
		return
	}
	if q.Settled != nil {
		q.Settled()
	}
}

// Asked records that a program made a request on its own at that time.
func (q *Quiet) Asked(there time.Duration) {
	q.retries = q.retries || there-q.since >= late
	q.Stir()
	q.since = there
}

// Wake lets time pass again after a change that no program observes, if a key is retried at long intervals. The retry
// may depend on the change.
func (q *Quiet) Wake() {
	if q.retries && q.alarm == nil && q.clock.Elapsed() < q.lastChange()+longest {
		q.Stir()
	}
}

// lastChange returns the time of the last change of an object other than an event.
func (q *Quiet) lastChange() time.Duration {
	for ; q.seen < q.history.Len(); q.seen++ {
		if r := q.history.At(q.seen); r.Op == sim.Commit && r.Object.Kind != "Event" {
			q.changed = r.At
		}
	}
	return q.changed
}
