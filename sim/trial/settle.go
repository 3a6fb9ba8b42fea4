package trial

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/internal/steptimeout"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Settling is the result of [Trial.Settle].
type Settling struct {
	Settled bool          `json:"settled"`
	At      time.Duration `json:"at"`               // the virtual time at the end
	Writes  int           `json:"writes"`           // number of commits, without status writes
	Steps   int           `json:"steps"`            // number of steps of the world
	Fight   bool          `json:"fight,omitempty"`  // a fight was found: the world repeats itself, or grows for ever
	Broken  bool          `json:"broken,omitempty"` // Limits.Stop ended the call at a violation
	Ended   bool          `json:"ended,omitempty"`  // the source of choices ended the run before the world settled
	Idle    string        `json:"idle,omitempty"`   // describes a loop without writes that ended the call; "" for none
	Middle  string        `json:"middle,omitempty"` // describes interrupted work; if set, the world is not judged
}

// Limits end a call of [Trial.Settle] that does not end by itself. The defaults suit worlds of any size, because they
// far exceed what a call needs. Steps and writes in a lull do not count. In a lull, the world waits for a distant
// timer, while other timers fire without effect. Most steps of programs that poll without effect do not count either.
type Limits struct {
	Writes int           // number of commits, without status writes; 0: half a million
	Steps  int           // number of steps; 0: two million, or 15,000 plus Recorded if the world has a whole program
	Idle   int           // number of steps without a commit, increased by For; 0: 20,000, more with many objects
	For    time.Duration // limit of virtual time; 0 for none

	Recorded int         // number of steps in the recording of a replayed run
	Rest     bool        // complete interrupted work after For has passed, then evaluate the laws of the settled world
	Stop     func() bool // called after each step; if it returns true, Settle ends; nil: never called
}

// The default limits of [Trial.Settle]. They end a run that never settles before its history fills the memory.
const (
	maxWrites = 500_000
	maxSteps  = 2_000_000
	maxHosted = 15_000 // replaces maxSteps in worlds with a whole program, whose steps take a hundred times as long
	maxIdle   = 20_000

	stepsOfLook = 20 // steps that a starting process needs for each object
)

func (l *Limits) fill(hosted bool) {
	l.Writes = cmp.Or(l.Writes, maxWrites)
	if hosted {
		l.Steps = cmp.Or(l.Steps, maxHosted+l.Recorded)
	}
	l.Steps = cmp.Or(l.Steps, maxSteps)
}

// counted holds the numbers of steps and writes that do not count for the limits. These happened before the call or in
// a lull.
type counted struct {
	writes, steps int
	wrote         int  // the value of tally.writes at the last call of pass
	hosted        bool // the world has a whole program
	lulled        int  // number of steps in a lull
	polled        int  // number of steps in polls of whole programs
}

// mostPolled is the maximum of counted.polled. A poll of 200 requests every five seconds needs 50,000 steps in twenty
// minutes (pollsFor).
const mostPolled = 60_000

// pass is called after each step. In a lull (see lulled), it excludes the step and its writes from the limits. It also
// excludes the steps of programs that poll without effect, at most ten times a second on average.
func (t *Trial) pass(from *counted) {
	c := &t.fight.tally
	wrote := c.writes - from.wrote
	from.wrote = c.writes
	switch now := t.World.Clock.Elapsed(); {
	case t.rest.lulled(now) && from.lulled < maxSteps:
		from.lulled++
	case from.hosted && from.polled < mostPolled && t.rest.beating(now):
		from.polled++
	default:
		return
	}
	from.steps++
	from.writes += wrote
	c.committed++
	if t.limit.tally != nil {
		t.limit.writes += wrote
	}
}

// deadline says when the current call of [Trial.Settle] ends. It is part of the digest of the trial.
type deadline struct {
	writes int           // the number of writes at which the call ends
	tally  *tally        // counts the writes; nil without Limits.Writes
	last   time.Duration // the time until which interrupted work may continue; 0: no work was interrupted
}

func (d *deadline) digest(h *sim.Hash, now time.Duration) {
	if d.tally != nil {
		h.Word(uint64(d.writes - d.tally.writes))
	}
	if d.last > 0 {
		h.Word(uint64(d.last - now))
	}
}

// With Limits.Rest, interrupted work continues after Limits.For until nothing has changed for ten seconds (doneFor),
// but at most for a minute (goesOn). doneFor exceeds the delay of the Job controller before each reconcile (one
// second), and the delays of most retries.
const (
	doneFor = 10 * time.Second
	goesOn  = time.Minute
)

// next returns the time of the next timer. If that time is at most ten seconds after the last change, work may be
// unfinished, and soon is true.
func (t *Trial) next() (at time.Duration, soon bool) {
	if pending := t.World.Clock.Pending(); len(pending) > 0 {
		return pending[0].At, pending[0].At <= t.rest.since+doneFor
	}
	return 0, false
}

// underWay describes a controller's last work, for example "a reconcile of job/a by job".
func (t *Trial) underWay() string {
	h := &t.World.History
	for i := h.Len() - 1; i >= 0; i-- {
		switch r := h.At(i); {
		case r == nil:
			return "a reconcile"
		case r.Op == sim.SyncEnd:
			return "a reconcile of " + r.Object.String() + " by " + r.Process
		case r.Op == sim.Commit && !reportsOnly(r) && t.Cluster.Process(r.Process) != nil && !r.For.IsZero():
			return "a reconcile of " + r.For.String() + " by " + r.Process
		case r.Op == sim.Commit && !reportsOnly(r) && t.Cluster.Process(r.Process) != nil:
			return "a reconcile by " + r.Process + ", which wrote " + r.Object.String()
		}
	}
	return "a reconcile"
}

// Settle takes steps until the world has settled, that is, until only faults or timers without effect are left. Then it
// evaluates the laws about settled worlds. Settle also stops at a fight, which violates NOFIGHT-1, and at a limit,
// which violates EXACT-7. If Limits.For ends the call, the laws are evaluated only if no timers are left, or if
// Limits.Rest is set and interrupted work is complete.
func (t *Trial) Settle(l Limits) Settling {
	bounded := l.Writes > 0
	hosted := slices.ContainsFunc(t.Cluster.Processes(), (*host.Process).IsProgram)
	l.fill(hosted)
	t.fight.reset()
	t.rest.reset()
	c := &t.fight.tally
	writes, steps, start := c.writes, t.World.Steps(), t.World.Clock.Elapsed()
	from := counted{writes: writes, steps: steps, wrote: writes, hosted: hosted}
	c.committed = steps
	t.limit = deadline{}
	end := start + l.For
	if l.For > 0 {
		t.World.Clock.Horizon = end
		defer func() { t.World.Clock.Horizon = 0 }()
	}
	if bounded {
		t.limit.writes, t.limit.tally = writes+l.Writes, c
	}
	s, look, beats := Settling{}, firstLook, false
	dog := steptimeout.Watch(t.Judge.Evaluating)
	defer dog.End()
	t.World.Clock.Passed = dog.Step
	for {
		enabled := t.World.Enabled()
		if l.For > 0 && t.idleUntil(enabled) > end {
			t.rest.waits(t.World.Clock.Elapsed())
			if !t.World.Clock.Reach(end) {
				continue // another action became possible before the end
			}
			next, soon := t.next()
			if soon = soon && l.Rest; soon && end < next && next <= start+l.For+goesOn {
				end, t.limit.last = next, start+l.For+goesOn
				t.World.Clock.Horizon = end
				continue
			}
			if s.Settled = true; soon {
				s.Middle = t.underWay()
			}
			break
		}
		if l.For > 0 && t.World.Clock.Beside != nil && t.idle(enabled) && t.World.Clock.Elapsed() < end {
			t.World.Clock.Reach(end) // a timer inside a program may fire before the end
			continue
		}
		if beats = t.heartbeat(enabled, l.For > 0); beats {
			s.Settled = true
			break
		}
		if !t.World.StepAmong(enabled) {
			s.Settled = t.World.Quiet()
			s.Ended = !s.Settled
			break
		}
		dog.Step()
		t.spring()
		t.pass(&from)
		if c.writes-from.writes >= l.Writes || t.World.Steps()-from.steps >= l.Steps {
			break
		}
		if idle := t.World.Steps() - c.committed; idle >= maxIdle || l.Idle > 0 && idle >= l.Idle && !t.rest.beating(t.World.Clock.Elapsed()) {
			if idle >= t.mostIdle(&l) {
				s.Idle = fmt.Sprintf("no write in %d steps: %s", idle, t.goingRound())
				break
			}
		}
		if l.Stop != nil && l.Stop() {
			s.Broken = true
			break
		}
		if s.Fight = t.fought(); s.Fight {
			break
		}
		if done := c.writes - from.writes; done >= look {
			if look *= 4; t.loops() {
				break
			}
		}
	}
	s.At, s.Writes, s.Steps = t.World.Clock.Elapsed(), c.writes-writes, t.World.Steps()-steps
	t.limit = deadline{}
	t.rest.reset()
	switch {
	case s.Middle != "":
	case s.Settled && (beats || t.World.Quiet()) && !t.reachesOut():
		t.Cluster.Settled("")
	case s.Settled && (beats || t.World.Quiet()):
		t.Cluster.Settled(law.CutShort)
	case s.Settled && l.Rest:
		t.Cluster.Settled(law.CutShort)
	case !s.Settled && !s.Fight && !s.Broken && !s.Ended:
		t.unsettled(&s)
	}
	return s
}

// unreached matches the error of a program that connects to a server outside of the world.
var unreached = regexp.MustCompile(`\bdial (tcp|udp|unix)\b|no such host|connection refused|network is unreachable`)

// manyErrors is the number of equal errors after which a program retries its work for ever.
const manyErrors = 5

// reachesOut reports whether a program retries its work for ever because it cannot reach a server outside of the world.
// Such a program cannot complete its work, so it is judged as if the world's time had ended.
func (t *Trial) reachesOut() bool {
	return slices.ContainsFunc(t.Cluster.Processes(), func(p *host.Process) bool {
		last, times := render.LastError(p.Printed(linesOfPoll))
		return times >= manyErrors && unreached.MatchString(last)
	})
}

func (t *Trial) idle(e []sim.Action) bool { return len(e) == 0 || e[0].Class == sim.Fault }

// idleUntil returns the time of the next step. It is the time of the next timer if only timers are left, otherwise the
// current time.
func (t *Trial) idleUntil(e []sim.Action) time.Duration {
	if len(e) == 0 || e[0].Class != sim.Timer {
		return t.World.Clock.Elapsed()
	}
	if p := t.World.Clock.Pending(); len(p) > 0 {
		return p[0].At
	}
	return t.World.Clock.Elapsed()
}

// mostIdle returns the maximum number of steps without a commit. It grows with Limits.For, because a process may start
// every second. If Limits.Idle is 0, it also grows with the number of objects: a starting process reads all objects.
func (t *Trial) mostIdle(l *Limits) int {
	each := stepsOfLook * int(l.For/time.Second)
	if l.Idle > 0 {
		return l.Idle + each*len(t.Cluster.Processes())
	}
	return maxIdle + (4*t.objects()+each)*len(t.Cluster.Processes())
}

func (t *Trial) objects() int {
	n := 0
	for _, k := range t.Server.Kinds() {
		n += t.Server.Len(k)
	}
	return n
}

// LastError precedes the last error of a controller in the text of a violation of EXACT-7.
const LastError = "; the last error: "

func (t *Trial) unsettled(s *Settling) {
	text := fmt.Sprintf("not settled after %d writes and %d steps", s.Writes, s.Steps)
	if s.Idle != "" {
		text = s.Idle
	}
	if e := t.lastError(); e != "" {
		text += LastError + e
	}
	r := sim.Record{Op: sim.Unsettled, Cause: -1, Verb: "settle", Message: text}
	if t.disturbed() {
		r.Reason = law.Disturbed
	}
	t.World.Do("unsettled", func() { t.World.Record(r) })
}
