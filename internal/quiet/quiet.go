// Package quiet advances time for whole programs, because the world does not have their timers. It detects when the
// programs settle.
package quiet

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Time passes in steps of growing length. A request of a program ends a step at once. The programs have settled when
// the longest step (5.5 minutes) has passed without a request. All steps together take seven minutes. The longest step
// may be shorter if it is known when the programs act again (Quiet.Polls).
// Upstream controllers wait at most five minutes for expected events. The first 16 delays of a key in client-go's
// queues add up to 5.5 minutes. If a program acts even later without an event, a settle step needs an explicit time.
//
// A request after a pause of at least 41 seconds is taken for the retry of a key. The next retry may then come only
// after the longest step. Then the programs have settled only when no object has changed for 1010 seconds. This exceeds
// the longest retry delay, so each key was retried after the last change. Changes of Events and
// election locks do not count.
//
// If a program waits for a timer that is due within 1010 seconds of the last change, the programs settle only after
// this timer. Many time limits are ten minutes long.
const (
	firstWait = 5 * time.Millisecond // the first retry delay in client-go's queues
	longer    = 4
	lastWait  = firstWait << 16

	pause   = firstWait << 13    // if a pause is this long, the next retry may come later than lastWait
	longest = 1010 * time.Second // the longest delay in client-go's queues, plus the time of the retry

	// If it is known that no key is being retried, the longest step contains this many reconciles of each key that is
	// reconciled at intervals. It takes at least pollsLeast.
	pollsTimes = 3
	pollsLeast = time.Minute
)

// passes is the label of the alarm that ends a step.
const passes = "time passes"

// Quiet measures how long the programs of a world have made no request.
type Quiet struct {
	clock   *sim.Clock
	history *sim.History
	// Next, if not nil, returns the time until the next timer of a program. The bool is false if no timer is set.
	Next func() (time.Duration, bool)
	// Late, if not nil, returns the time until the first timer that the steps may not reach.
	Late func() (time.Duration, bool)
	// Polls, if not nil, returns the longest interval at which the programs reconcile keys without an event. The bool is
	// false if there is none, if it is unknown, or if a program retries a key with a growing delay.
	Polls func() (time.Duration, bool)
	// Settled, if not nil, is called when the programs have settled.
	Settled func()

	wait    time.Duration
	alarm   *sim.Alarm
	since   time.Duration // the time of the last activity
	late    time.Duration // the end of the wait for late timers, as known at the last activity or at the end of all steps
	retries bool          // a key is being retried at long intervals
	seen    int           // the number of records that were read
	changed time.Duration // the time of the last change of an object
}

// New returns the Quiet of a world.
func New(w *sim.World) *Quiet { return &Quiet{clock: &w.Clock, history: &w.History} }

// Stir records activity and begins a new step. Without Next, the step takes 5 ms. With Next, it ends at the next timer,
// but takes at least 5 ms and at most 5.5 minutes. If no timer is set, it takes 5.5 minutes.
func (q *Quiet) Stir() {
	now := q.clock.Elapsed()
	q.since, q.late = now, 0
	q.awaitLate()
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

// last returns the length of the longest step.
func (q *Quiet) last() time.Duration {
	if q.Polls != nil {
		if longest, known := q.Polls(); known {
			return min(max(pollsLeast, pollsTimes*longest), lastWait)
		}
	}
	return lastWait
}

// awaitLate sets q.late if a program waits for a late timer that is due soon enough after the last change. Late shows
// only the first late timer. Others may be due in the 5.5 minutes after it, so q.late is after these. If it is known when
// the programs act again, late timers are of no importance.
func (q *Quiet) awaitLate() {
	if q.last() < lastWait {
		q.late = 0
		return
	}
	if q.Late == nil {
		return
	}
	now, last := q.clock.Elapsed(), q.lastChange()+longest
	if left, any := q.Late(); any && left > 0 && now+left <= last {
		q.late = min(now+left+lastWait, last)
	}
}

// passed ends a step in which no program made a request.
func (q *Quiet) passed() {
	q.alarm = nil
	if last := q.last(); q.wait < last {
		q.wait = min(longer*q.wait, last)
		q.alarm = q.clock.After(q.wait, "", passes, q.passed)
		return
	}
	q.awaitLate() // a program may set a timer without a request
	more := q.late - q.clock.Elapsed()
	if q.retries {
		more = max(more, q.lastChange()+longest-q.clock.Elapsed())
	}
	if more > 0 {
		q.alarm = q.clock.After(more, "", passes, q.passed)
		return
	}
	if q.Settled != nil {
		q.Settled()
	}
}

// Reports reports whether a request writes an Event. If only time was its cause, it is no activity: client-go
// sends refused Events again, and updates the counts of old ones, long after the program has settled.
func Reports(r *fakeapi.Request) bool {
	writes := []fakeapi.Verb{fakeapi.Create, fakeapi.Update, fakeapi.Patch}
	return r.Kind.GVK.Kind == "Event" && slices.Contains(writes, r.Verb)
}

// Asked records a request that a program made at this time, without an event as its cause.
func (q *Quiet) Asked(at time.Duration) {
	q.retries = q.retries || at-q.since >= pause
	q.Stir()
	q.since = at
}

// Wake begins a new step after a change that no program watches. It does so only if a key is being retried at long
// intervals, because the retry may depend on the change.
func (q *Quiet) Wake() {
	if q.retries && q.alarm == nil && q.clock.Elapsed() < q.lastChange()+longest {
		q.Stir()
	}
}

// lastChange returns the time of the last change of an object that is neither an Event nor an election lock.
func (q *Quiet) lastChange() time.Duration {
	for ; q.seen < q.history.Len(); q.seen++ {
		r := q.history.At(q.seen)
		if r.Op == sim.Commit && r.Object.Kind != "Event" && !IsLock(r.After) {
			q.changed = r.At
		}
	}
	return q.changed
}

// leader is an annotation of ConfigMaps and Endpoints that client-go before v0.28 uses as leader election locks.
const leader = "control-plane.alpha.kubernetes.io/leader"

// IsLock reports whether an object is a lock of a leader election. The object may be nil.
func IsLock(object any) bool {
	if _, lease := object.(*coordinationv1.Lease); lease {
		return true
	}
	o, _ := object.(metav1.Object)
	return o != nil && o.GetAnnotations()[leader] != ""
}
