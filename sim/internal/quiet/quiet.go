// Package quiet lets time pass for whole programs, whose timers are not those of the world, and says when
// they are taken to have settled.
package quiet

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Time passes by steps that grow. Each ends at once when a program makes a request. When the longest has
// passed without one, the programs have settled. That is after seven minutes in all, longer than upstream's
// expectations last (five) and than client-go's queues wait before the sixteenth try. A program that acts
// later by itself needs a settle with a time of its own.
//
// A program that makes a request after so long a quiet as client-go's queues leave between late retries has a
// key that waits longer still. It has settled only when nothing has changed for longer than those queues ever
// wait, so that the key was tried once more since. Events do not count as changes.
const (
	firstWait = 5 * time.Millisecond // as the first retry of client-go's queues
	longer    = 4
	lastWait  = firstWait << 16

	late    = firstWait << 13    // between two retries: a key may wait longer than lastWait
	longest = 1010 * time.Second // the longest wait of client-go's queues, and a try
)

// passes is the label of the alarm.
const passes = "time passes"

// Quiet is how long the programs of a world have made no request.
type Quiet struct {
	clock   *sim.Clock
	history *sim.History
	// Next, if set, returns how long from now the next timer of a program is due; it reports false
	// where there is none.
	Next func() (time.Duration, bool)
	// Settled, if set, is called when the programs have settled.
	Settled func()

	wait    time.Duration
	alarm   *sim.Alarm
	since   time.Duration // when something last happened
	retries bool          // a key is tried again at long intervals
	seen    int           // records that were looked at
	changed time.Duration // when an object last changed
}

// New returns the quiet of a world's programs.
func New(w *sim.World) *Quiet { return &Quiet{clock: &w.Clock, history: &w.History} }

// Stir says that something has happened: from now on time may bring something.
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

// passed is called when time has passed without a request.
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

// Asked says that a program made a request by itself, when time had passed to there.
func (q *Quiet) Asked(there time.Duration) {
	q.retries = q.retries || there-q.since >= late
	q.Stir()
	q.since = there
}

// Wake lets time pass once more where something has changed that no program hears of, and a key waits that
// may have to do with it.
func (q *Quiet) Wake() {
	if q.retries && q.alarm == nil && q.clock.Elapsed() < q.lastChange()+longest {
		q.Stir()
	}
}

// lastChange is when an object other than an event last changed.
func (q *Quiet) lastChange() time.Duration {
	for ; q.seen < q.history.Len(); q.seen++ {
		if r := q.history.At(q.seen); r.Op == sim.Commit && r.Object.Kind != "Event" {
			q.changed = r.At
		}
	}
	return q.changed
}
