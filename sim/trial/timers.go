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

// If only timers are left, each timer must fire three times (beatsTimes) before the world settles, in at least an hour
// (beatsFor). Meanwhile, writes may change only timestamps. Without this rule, a controller that polls every ten
// minutes would never settle. To wait for a later poll that changes something, use Limits.For.
const (
	beatsTimes = 3
	beatsFor   = time.Hour
	// pollsFor replaces beatsFor in worlds with whole programs, where every poll takes many steps. It exceeds the
	// longest backoff of client-go's queues. If keys are reconciled at known intervals, and none is in a backoff,
	// pollsLeast or a multiple (beatsTimes) of the longest interval is enough.
	pollsFor   = 20 * time.Minute
	pollsLeast = 2 * time.Minute
	beatsMost  = 1000                   // with this number of fired timers, the world may settle before beatsFor
	beatsLeast = 100 * time.Millisecond // a timer that fires at shorter intervals is a loop

	// A creation that is refused at about equal intervals is a poll, and so is a creation whose refusal is ignored. The
	// interval is at least a second, because a shorter interval is a loop. If the refusal is not ignored, the interval
	// is less than 1000 s, the longest back-off of client-go's queues. The intervals of a back-off double. The
	// intervals of a poll grow less, even if slow writes delay its requests.
	againLeast = time.Second
	againMost  = 1000 * time.Second

	// A timer whose delay doubles fires three times (beatsTimes) within this multiple of its first delay.
	beatsAway = 1 << beatsTimes
)

// resting counts the timers that have fired since the last change.
type resting struct {
	fired   map[beat]int        // timer -> how often it has fired since the count began
	due     []*sim.Alarm        // timers that the last step may have fired
	since   time.Duration       // the time of the first wait for a timer after the last change
	rounds  int                 // the sum of the numbers in fired
	lull    time.Duration       // the time until which the world is in a lull (see lulled); 0 for none
	changed bool                // something has changed, so the next call of waits resets the counts
	knocks  map[worker][]string // worker -> messages of refusals that are no change, in the worker's current reconcile
	again   map[attempt]refused // the writes that were refused
	wrote   map[sim.Ref]int     // object without its UID -> index of the last commit
	waited  bool                // only timers were left once
	states  map[uint64]int      // from then on: state or shape of an object -> how many writes to its status had it
}

type attempt struct {
	process string
	object  sim.Ref
	verb    string
}

// refused says when a write was last refused, and the longest time between two refusals.
type refused struct {
	at, longest time.Duration
	record      int    // index of the last refusal
	message     string // of a webhook; "" for other refusals
}

type worker struct {
	process string
	number  int
}

// beat identifies a recurring timer by the owner and the label of its alarms.
type beat struct{ owner, label string }

func (r *resting) reset() {
	clear(r.fired)
	clear(r.knocks)
	clear(r.again)
	clear(r.states)
	clear(r.wrote)
	r.due, r.changed, r.waited = r.due[:0], true, false
}

// digest adds what decides when the world counts as settled: the time since the last change, the timers that have
// fired, the refused writes and the states. The field due is left out, because it follows from the clock's state.
func (r *resting) digest(h *sim.Hash, now time.Duration) {
	var attempts uint64
	for a, last := range r.again { //detcheck:ordered a sum
		var one sim.Hash
		one.String(a.process)
		one.String(a.object.String())
		one.String(a.verb)
		one.Word(uint64(min(now-last.at, againMost)))
		one.Word(uint64(last.longest))
		one.Bool(r.wrote[a.object] > last.record)
		one.String(last.message)
		attempts += sim.Mix(uint64(one))
	}
	h.Word(attempts)
	h.Bool(r.waited)
	var states uint64
	for s, n := range r.states { //detcheck:ordered a sum
		states += sim.Mix(s + uint64(min(n, manyCounts+1)))
	}
	h.Word(states)
	if h.Bool(r.changed); r.changed {
		return // after a change, the counts start again
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

// note sets r.changed if a record is a change. An error or a refusal is no change if events are withheld from the
// process, because the process may wait for these events. A 403 for a quota or a missing permission is no change
// either: only another actor can remove the cause, and the controller retries with growing delays. ignored reports
// whether the process ignores a refusal.
func (r *resting) note(rec *sim.Record, withheld bool, ignored func(*sim.Record) bool) {
	switch rec.Op {
	case sim.Commit:
		if r.wrote == nil {
			r.wrote = map[sim.Ref]int{}
		}
		r.wrote[nameOf(rec)] = rec.Index
		returns := r.returns(rec)
		r.changed = r.changed || !reportsOnly(rec) && !returns &&
			(rec.Before == nil || rec.After == nil || !fight.OnlyTimes(rec.Before, rec.After))
	case sim.SyncEnd:
		r.changed = r.changed || rec.Message != "" && !withheld && !r.knocked(rec)
		delete(r.knocks, worker{rec.Process, rec.Worker})
	case sim.Refusal:
		if again := r.repeats(rec, ignored); rec.Code != http.StatusForbidden {
			r.changed = r.changed || !withheld && !again
			if rec.Verb == "create" && (!again || rec.Code == http.StatusConflict) {
				return
			}
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

// returns reports whether a write to a status returns to an earlier state of the object, except for times. For example,
// an operator may report that it tries to reach a server, and then that it failed. Such writes are part of a poll. So
// is a write that changes only numbers, after many such writes: it counts attempts. The states before the first wait
// for timers are unknown.
func (r *resting) returns(rec *sim.Record) bool {
	if !r.waited || rec.Subresource != "status" || rec.Before == nil || rec.After == nil {
		return false
	}
	if r.states == nil {
		r.states = map[uint64]int{}
	}
	after, shape := fight.State(rec.After)
	if before, _ := fight.State(rec.Before); r.states[before] == 0 {
		r.states[before] = 1
	}
	r.states[shape]++
	r.states[after]++
	return r.states[after] > 1 || r.states[shape] > manyCounts
}

// manyCounts is the number of writes after which a number in a status counts as a counter, and not as progress.
const manyCounts = 50

// byWebhook is in the message of a refusal by an admission webhook.
const byWebhook = "admission webhook \""

// repeats reports whether a webhook refuses a write again for the same reason, at least a second later, or whether a
// write is refused again because the object exists, or because another version of it exists. For example, an operator
// may begin each poll with the creation of its objects, or its two instances may poll at the same time. If the process
// ignores the refusal, it repeats its work for another reason. Otherwise, only creations at about equal intervals count,
// and conflicts after another write to the object.
func (r *resting) repeats(rec *sim.Record, ignored func(*sim.Record) bool) bool {
	webhook := strings.Contains(rec.Message, byWebhook)
	if rec.Code != http.StatusConflict && !webhook {
		return false
	}
	if r.again == nil {
		r.again = map[attempt]refused{}
	}
	a := attempt{rec.Process, nameOf(rec), rec.Verb}
	last, known := r.again[a]
	every := rec.At - last.at
	if !known {
		every = 0
	}
	now := refused{at: rec.At, longest: max(every, last.longest), record: rec.Index}
	if webhook {
		now.message = rec.Message
	}
	if r.again[a] = now; webhook {
		return known && every >= againLeast && now.message == last.message
	}
	if rec.Verb != "create" {
		return known && (r.wrote[a.object] > last.record || ignored(rec))
	}
	return againLeast <= every && (every < min(againMost, last.longest*9/5) || ignored(rec))
}

func nameOf(r *sim.Record) sim.Ref {
	return sim.Ref{Kind: r.Object.Kind, Namespace: r.Object.Namespace, Name: r.Object.Name}
}

// ignored reports whether a process ignores a refusal. A program ignores it if its last lines do not contain the
// message, regardless of the quoting of quotation marks. If a program prints nothing, this is unknown. A reconciler
// ignores the refusal of a creation, or returns an error, which is a change.
func (t *Trial) ignored(rec *sim.Record) bool {
	p := t.Cluster.Process(rec.Process)
	if p == nil || !p.IsProgram() {
		return rec.Verb == "create"
	}
	plain := strings.NewReplacer(`"`, "", `\`, "")
	message, lines := plain.Replace(rec.Message), p.Printed(linesOfPoll)
	return len(lines) > 0 && !slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(plain.Replace(line), message)
	})
}

// linesOfPoll is the number of lines in which a program's message about a refusal is searched.
const linesOfPoll = 200

// polls reports whether a refusal is part of a poll, and therefore no change. A poll reads or deletes a missing object,
// or tries to take a lock. To take a lock, a program creates an object that another instance of the program may have
// created.
func (t *Trial) polls(rec *sim.Record) bool {
	p := t.Cluster.Process(rec.Process)
	if rec.Op != sim.Refusal || p == nil {
		return false
	}
	switch rec.Code {
	case http.StatusNotFound:
		return rec.Verb == "get" || rec.Verb == "delete"
	case http.StatusConflict:
		other := t.Cluster.Process(t.creator(rec.Object))
		return rec.Verb == "create" && p.IsProgram() && other != nil && other != p && other.Controller().Name == p.Controller().Name
	}
	return false
}

// creator returns the name of the process that created an object, or "" if it is unknown.
func (t *Trial) creator(object sim.Ref) string {
	h := &t.World.History
	for i := h.Len() - 1; i >= 0; i-- {
		r := h.At(i)
		if r != nil && r.Op == sim.Commit && r.Before == nil && r.Object.Kind == object.Kind &&
			r.Object.Namespace == object.Namespace && r.Object.Name == object.Name {
			return r.Process
		}
	}
	return ""
}

func (r *resting) knocked(end *sim.Record) bool {
	return slices.ContainsFunc(r.knocks[worker{end.Process, end.Worker}],
		func(refusal string) bool { return strings.Contains(end.Message, refusal) })
}

// heartbeat reports whether the world has settled, because only timers are left and they have no effect.
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
	r.waited = true
	for _, a := range pending {
		if a.At == pending[0].At || a.At <= now {
			r.due = append(r.due, a)
		}
	}
	if now-r.since < t.patience(pending, timed) && (r.rounds < beatsMost || !r.beating(now)) {
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

// waits resets the counts of fired timers if something has changed. It is called when only timers are left.
func (r *resting) waits(now time.Duration) {
	if r.changed {
		clear(r.fired)
		r.changed, r.since, r.rounds, r.lull = false, now, 0, 0
	}
}

// lulled reports whether the world waits only for distant timers, while other timers fire without effect. An example is
// a resync in twelve hours, while a lease is renewed every two seconds.
func (r *resting) lulled(now time.Duration) bool { return !r.changed && now < r.lull }

// beating reports whether each timer has fired, on average, at most ten times a second since the last change.
func (r *resting) beating(now time.Duration) bool {
	return !r.changed && now > r.since && (now-r.since)*time.Duration(len(r.fired)) >= time.Duration(r.rounds)*beatsLeast
}

func (t *Trial) withheld(process string) bool {
	p := t.Cluster.Process(process)
	return p != nil && p.Withheld()
}

// electionFor is longer than the leases of leader elections.
const electionFor = 30 * time.Second

// patience returns how long timers must have no effect before the world counts as settled:
//   - with [Limits].For, an hour;
//   - 0 if every timer belongs to a process with withheld events. Its retries become rare, so waiting shows little;
//   - 30 s if every timer belongs to such a process or to a manager. After 30 s, an old lease has expired;
//   - otherwise an hour in worlds without programs, and 20 minutes or less in worlds with programs: see pollsFor.
func (t *Trial) patience(pending []*sim.Alarm, timed bool) time.Duration {
	enough, long := time.Duration(0), beatsFor
	if !timed && slices.ContainsFunc(t.Cluster.Processes(), (*host.Process).IsProgram) {
		long = t.polling()
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

// polling returns how long the polls of programs must have no effect.
func (t *Trial) polling() time.Duration {
	longest := time.Duration(0)
	for _, p := range t.Cluster.Processes() {
		if !p.IsProgram() {
			continue
		}
		each, known := p.Polls()
		if !known {
			return pollsFor
		}
		longest = max(longest, each)
	}
	if longest == 0 {
		return pollsFor
	}
	return min(max(pollsLeast, beatsTimes*longest), pollsFor)
}

// roundSteps is the number of steps that goingRound takes: several rounds of a loop of a dozen controllers.
const roundSteps = 200

// goingRound describes a loop: it takes 200 more steps and lists what happens, in the order of first occurrence.
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

func round(cast *render.Cast, r *sim.Record) string {
	if r == nil {
		return ""
	}
	switch r.Op {
	case sim.SyncStart:
		return cast.Actor(r) + " is synced"
	case sim.Refusal:
		return cast.Actor(r) + ": " + r.Verb + " " + r.Object.String() + " is refused"
	case sim.FaultHit:
		return r.Process + ": " + r.Verb
	}
	return ""
}

// lastError returns the error of the last failed reconcile, or "" if the last records contain none.
func (t *Trial) lastError() string {
	h := &t.World.History
	for i := h.Len() - 1; i >= max(0, h.Len()-lookRecords); i-- {
		if r := h.At(i); r != nil && r.Op == sim.SyncEnd && r.Message != "" {
			return render.CastOf(h).Actor(r) + ": " + r.Message
		}
	}
	return ""
}
