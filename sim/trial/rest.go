package trial

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// A world in which only timers are left is at rest when each of them has fired
// so often, for so long, that nothing but the time of day has changed: a
// controller that looks again every ten minutes must not keep a world from
// being judged. One that acts at a later look than that needs a settle with
// Limits.For.
const (
	beatsTimes = 3
	beatsFor   = time.Hour
	// The same beside a whole program, of which each look takes many steps. It is longer than client-go's queues back off.
	pollsFor  = 20 * time.Minute
	beatsMost = 1000 // rounds, when they are short

	// A timer fires three times at distances that double within that many of the first one.
	beatsAway = 1 << beatsTimes
)

// resting is what has been seen of heartbeats since something changed.
type resting struct {
	fired   map[beat]int
	due     []*sim.Alarm // what could fire in the last step
	since   time.Duration
	rounds  int
	lull    time.Duration // until when nothing is waited for but timers that lie far off; 0: none is
	changed bool
	knocks  map[worker][]string // what was forbidden to each in the sync that it is in
}

// worker is one of the workers of a process.
type worker struct {
	process string
	number  int
}

// beat is a timer as it comes again and again.
type beat struct{ owner, label string }

func (r *resting) reset() {
	clear(r.fired)
	clear(r.knocks)
	r.due, r.changed = r.due[:0], true
}

// digest folds what of the past decides when a settle takes the world for one at
// rest: when something last changed, and what has fired since. What could fire
// follows from the timers.
func (r *resting) digest(h *sim.Hash, now time.Duration) {
	if h.Bool(r.changed); r.changed {
		return // what else it has seen does not count
	}
	h.Word(uint64(min(now-r.since, beatsFor)))
	h.Word(uint64(min(r.rounds, beatsMost)))
	h.Bool(r.lulled(now))
	var sum uint64
	for b, n := range r.fired { //detcheck:ordered a sum
		var one sim.Hash
		one.String(b.owner)
		one.String(b.label)
		one.Word(uint64(min(n, beatsTimes)))
		sum += sim.Mix(uint64(one))
	}
	h.Word(sum)
}

// note takes in a record: does it say that something happened? A sync or a request that
// fails in a process from which events are withheld may wait for just those, and nothing
// else can happen to it before they are shown. One that fails because the server
// forbids what it asks for, by a quota or for want of a permission, asks for what is
// for somebody else to change: to ask again, each time later, is what it should do.
func (r *resting) note(rec *sim.Record, withheld bool) {
	switch rec.Op {
	case sim.Commit:
		r.changed = r.changed || !told(rec) &&
			(rec.Before == nil || rec.After == nil || !fight.OnlyTimes(rec.Before, rec.After))
	case sim.SyncEnd:
		r.changed = r.changed || rec.Message != "" && !withheld && !r.knocked(rec)
		delete(r.knocks, worker{rec.Process, rec.Worker})
	case sim.Refusal:
		if rec.Code != http.StatusForbidden {
			r.changed = r.changed || !withheld
			return
		}
		if r.knocks == nil {
			r.knocks = map[worker][]string{}
		}
		w := worker{rec.Process, rec.Worker}
		r.knocks[w] = append(r.knocks[w], rec.Message)
	case sim.FaultHit, sim.Mutation:
		r.changed = true
	}
}

// polls reports whether a program has looked for an object that is not there: how it ends a sync after that is not seen.
func (t *Trial) polls(rec *sim.Record) bool {
	if rec.Op != sim.Refusal || rec.Code != http.StatusNotFound || rec.Verb != "get" {
		return false
	}
	p := t.Cluster.Process(rec.Process)
	return p != nil && p.IsProgram()
}

// knocked reports whether a sync ended with what it was forbidden.
func (r *resting) knocked(end *sim.Record) bool {
	return slices.ContainsFunc(r.knocks[worker{end.Process, end.Worker}],
		func(refusal string) bool { return strings.Contains(end.Message, refusal) })
}

// heartbeat reports whether the timers that are left change nothing.
func (t *Trial) heartbeat(enabled []sim.Action, timed bool) bool {
	pending := t.World.Clock.Pending()
	r := &t.rest
	if r.fired == nil {
		r.fired = map[beat]int{}
	}
	for _, a := range r.due {
		if !slices.Contains(pending, a) {
			r.fired[beat{a.Owner, a.Label}]++
			r.rounds++
		}
	}
	r.due = r.due[:0]
	if len(pending) == 0 || len(enabled) == 0 || enabled[0].Class != sim.Timer {
		return false
	}
	now := t.World.Clock.Elapsed()
	r.waits(now)
	for _, a := range pending {
		if a.At == pending[0].At || a.At <= now {
			r.due = append(r.due, a)
		}
	}
	if now-r.since < t.patience(pending, timed) && r.rounds < beatsMost {
		return false
	}
	beats := 0
	for _, a := range pending {
		if r.fired[beat{a.Owner, a.Label}] >= beatsTimes {
			beats++
		}
	}
	if beats == len(pending) {
		return true
	}
	if beats > 0 && r.lull == 0 {
		r.lull = now + beatsAway*(pending[len(pending)-1].At-now)
	}
	return false
}

// waits notes that only timers are left.
func (r *resting) waits(now time.Duration) {
	if r.changed {
		clear(r.fired)
		r.changed, r.since, r.rounds, r.lull = false, now, 0, 0
	}
}

// lulled reports whether the world does at a time what would be its rest, were there not
// timers that lie far off: a resync in twelve hours, while a lease is renewed every two
// seconds.
func (r *resting) lulled(now time.Duration) bool { return !r.changed && now < r.lull }

// withheld reports whether events are kept from the process of a name.
func (t *Trial) withheld(process string) bool {
	p := t.Cluster.Process(process)
	return p != nil && p.Withheld()
}

// electionFor is longer than a lease lasts that is not renewed.
const electionFor = 30 * time.Second

// patience is for how long timers have to change nothing. A process from which events
// are kept is tried again and again, at growing distances, and no hour of it tells
// more than three times; who leads has been decided when a lease would have run out.
// A settle that has a time of its own waits in any case.
func (t *Trial) patience(pending []*sim.Alarm, timed bool) time.Duration {
	enough, long := time.Duration(0), beatsFor
	if !timed && slices.ContainsFunc(t.Cluster.Processes(), (*host.Process).IsProgram) {
		long = pollsFor
	}
	for _, a := range pending {
		switch p := t.Cluster.Process(a.Owner); {
		case timed || p == nil || len(p.Members()) == 0 && !p.Withheld():
			return long
		case len(p.Members()) > 0:
			enough = electionFor
		}
	}
	return enough
}

// roundSteps is how many more steps are taken to see what goes round: enough
// for a few rounds of a dozen controllers.
const roundSteps = 200

// goingRound takes some more steps, and names what is done in them: who works
// on what, in the order in which it first comes.
func (t *Trial) goingRound() string {
	from := t.World.History.Len()
	for range roundSteps {
		if !t.World.Step() {
			break
		}
	}
	var names []string
	h := &t.World.History
	cast := render.CastOf(h)
	for i := from; i < h.Len(); i++ {
		if name := round(cast, h.At(i)); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = append(names, "timers fire")
	}
	if more := len(names) - 4; more > 0 {
		names = append(names[:4], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ") + ", again and again"
}

// round words a record of a world that goes round; "" for one that says nothing.
func round(cast *render.Cast, r *sim.Record) string {
	if r == nil {
		return ""
	}
	switch r.Op {
	case sim.SyncStart:
		return cast.Who(r) + " is synced"
	case sim.Refusal:
		return cast.Who(r) + ": " + r.Verb + " " + r.Object.String() + " is refused"
	case sim.FaultHit:
		return r.Process + ": " + r.Verb
	}
	return ""
}

// lastError is the error that the last failed sync ended with, "" where the
// last records tell of none.
func (t *Trial) lastError() string {
	h := &t.World.History
	for i := h.Len() - 1; i >= max(0, h.Len()-lookRecords); i-- {
		if r := h.At(i); r != nil && r.Op == sim.SyncEnd && r.Message != "" {
			return render.CastOf(h).Who(r) + ": " + r.Message
		}
	}
	return ""
}
