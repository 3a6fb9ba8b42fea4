package trial

import (
	"fmt"
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/watchdog"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Settling is how a settle ended.
type Settling struct {
	Settled bool          `json:"settled"`
	At      time.Duration `json:"at"`
	Writes  int           `json:"writes"`           // commits, those of status left out
	Steps   int           `json:"steps"`            // of the world
	Fight   bool          `json:"fight,omitempty"`  // the world repeats itself, or grows for ever
	Broken  bool          `json:"broken,omitempty"` // stopped at a broken law
	Ended   bool          `json:"ended,omitempty"`  // the source of choices ended the run: nothing was judged
	Idle    string        `json:"idle,omitempty"`   // what went round while nothing was written
	Middle  string        `json:"middle,omitempty"` // what the clock cut off: nothing was judged
}

// Limits end a settle that does not come to rest by itself. The zero value is
// for a world of any size: the bounds are far above what it needs. Heartbeats that
// go on while all else waits for a timer that lies far off do not count.
type Limits struct {
	Writes int           // commits, those of status left out; 0: half a million
	Steps  int           // 0: two million; where a whole program runs 15,000, and those of Recorded
	Idle   int           // steps without a commit, to which For adds; 0: 20,000, and more for many objects
	For    time.Duration // virtual; 0: none

	Recorded int         // how many steps a run has whose schedule is replayed
	Rest     bool        // judge the world as settled when that time has passed, and what it cut off is done
	Stop     func() bool // asked after each step: the law it waits for is broken; nil: never
}

// The bounds of a settle that names none: far above what any world needs, so
// that a run that never rests ends all the same, and before its history fills
// the memory.
const (
	maxWrites = 500_000
	maxSteps  = 2_000_000
	maxHosted = 15_000 // steps where a whole program runs, each of which takes a hundred times as long
	maxIdle   = 20_000

	stepsOfLook = 20 // of a process that looks again at all it has
)

func (l *Limits) fill(hosted bool) {
	l.Writes = orElse(l.Writes, maxWrites)
	if hosted {
		l.Steps = orElse(l.Steps, maxHosted+l.Recorded)
	}
	l.Steps = orElse(l.Steps, maxSteps)
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// counted is from where on the limits of a settle count, which moves with what does not
// count.
type counted struct {
	writes, steps int
	wrote         int // the tally of writes after the last step
	lulled        int // steps that did not count
}

// pass notes a step, with what it wrote: in a lull it does not count.
func (t *Trial) pass(from *counted) {
	c := &t.fight.tally
	wrote := c.writes - from.wrote
	if from.wrote = c.writes; !t.rest.lulled(t.World.Clock.Elapsed()) || from.lulled >= maxSteps {
		return
	}
	from.lulled++
	from.steps++
	from.writes += wrote
	c.committed++
	if t.limit.tally != nil {
		t.limit.writes += wrote
	}
}

// deadline is after how many writes the settle that is under way will end: part
// of what the future depends on.
type deadline struct {
	writes int // the tally at which it ends
	tally  *tally
	last   time.Duration // until when what the clock has cut off may go on; 0: it has cut nothing off
}

func (d *deadline) digest(h *sim.Hash, now time.Duration) {
	if d.tally != nil {
		h.Word(uint64(d.writes - d.tally.writes))
	}
	if d.last > 0 {
		h.Word(uint64(d.last - now))
	}
}

// What is under way when the time of a settle has passed goes on, for a while, until nothing has changed for so
// long that it was done: the Job controller waits a second before each sync, a retry a few at most.
const (
	doneFor = 10 * time.Second
	goesOn  = time.Minute
)

// next returns when the next timer fires, and whether it may belong to what is under way: it fires within
// doneFor of the last change.
func (t *Trial) next() (at time.Duration, soon bool) {
	if pending := t.World.Clock.Pending(); len(pending) > 0 {
		return pending[0].At, pending[0].At <= t.rest.since+doneFor
	}
	return 0, false
}

// underWay words what a controller was doing last: "a reconcile of job/a by job".
func (t *Trial) underWay() string {
	h := &t.World.History
	for i := h.Len() - 1; i >= 0; i-- {
		switch r := h.At(i); {
		case r == nil:
			return "a reconcile"
		case r.Op == sim.SyncEnd:
			return "a reconcile of " + r.Object.String() + " by " + r.Process
		case r.Op == sim.Commit && !told(r) && t.Cluster.Process(r.Process) != nil && !r.For.IsZero():
			return "a reconcile of " + r.For.String() + " by " + r.Process
		case r.Op == sim.Commit && !told(r) && t.Cluster.Process(r.Process) != nil:
			return "a reconcile by " + r.Process + ", which wrote " + r.Object.String()
		}
	}
	return "a reconcile"
}

// Settle steps until nothing but faults is enabled, or what goes on is a
// heartbeat that changes nothing, or a limit is reached. A world at rest is put
// to the laws on worlds at rest; one that has not come to rest breaks EXACT-7,
// or NOFIGHT-1 where what it does is a fight. What the clock cut short is
// neither, unless the limits say that it is rest. Then what was under way is
// finished first; where that does not end, nothing is judged.
func (t *Trial) Settle(l Limits) Settling {
	bounded := l.Writes > 0
	l.fill(slices.ContainsFunc(t.Cluster.Processes(), (*host.Process).IsProgram))
	t.fight.reset()
	t.rest.reset()
	c := &t.fight.tally
	writes, steps, start := c.writes, t.World.Steps(), t.World.Clock.Elapsed()
	from := counted{writes: writes, steps: steps, wrote: writes}
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
	dog := watchdog.Watch(t.Judge.Asking)
	defer dog.End()
	for {
		enabled := t.World.Enabled()
		if l.For > 0 && t.idleUntil(enabled) > end {
			t.rest.waits(t.World.Clock.Elapsed())
			if !t.World.Clock.Reach(end) {
				continue // something happens before
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
			t.World.Clock.Reach(end) // a program may act by a timer of its own
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
		if idle := t.World.Steps() - c.committed; idle >= maxIdle || l.Idle > 0 && idle >= l.Idle {
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
	case s.Settled && (beats || t.World.Quiet()):
		t.Cluster.Settled("")
	case s.Settled && l.Rest:
		t.Cluster.Settled(law.CutShort)
	case !s.Settled && !s.Fight && !s.Broken && !s.Ended:
		t.unsettled(&s)
	}
	return s
}

// idle reports whether nothing but faults can happen.
func (t *Trial) idle(e []sim.Action) bool { return len(e) == 0 || e[0].Class == sim.Fault }

// idleUntil is the time of the next step: now, unless only timers are left.
func (t *Trial) idleUntil(e []sim.Action) time.Duration {
	if len(e) == 0 || e[0].Class != sim.Timer {
		return t.World.Clock.Elapsed()
	}
	if p := t.World.Clock.Pending(); len(p) > 0 {
		return p[0].At
	}
	return t.World.Clock.Elapsed()
}

// mostIdle is how many steps without a commit are too many: a process that comes
// up looks at every object there is, and in a settle with a time to pass each may well
// look on in vain every second until then.
func (t *Trial) mostIdle(l *Limits) int {
	each := stepsOfLook * int(l.For/time.Second)
	if l.Idle > 0 {
		return l.Idle + each*len(t.Cluster.Processes())
	}
	return maxIdle + (4*t.objects()+each)*len(t.Cluster.Processes())
}

// objects is how many objects are stored.
func (t *Trial) objects() int {
	n := 0
	for _, k := range t.Server.Kinds() {
		n += t.Server.Len(k)
	}
	return n
}

// unsettled records that the world did not come to rest (EXACT-7).
func (t *Trial) unsettled(s *Settling) {
	text := fmt.Sprintf("not at rest after %d writes and %d steps", s.Writes, s.Steps)
	if s.Idle != "" {
		text = s.Idle
	}
	if e := t.lastError(); e != "" {
		text += "; the last error: " + e
	}
	r := sim.Record{Op: sim.Unsettled, Cause: -1, Verb: "settle", Message: text}
	if t.disturbed() {
		r.Reason = law.Disturbed
	}
	t.World.Do("unsettled", func() { t.World.Record(r) })
}
