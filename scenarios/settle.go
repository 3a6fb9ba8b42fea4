package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/render"
)

// Settling is how a settle ended.
type Settling struct {
	Settled bool          `json:"settled"`
	At      time.Duration `json:"at"`
	Writes  int           `json:"writes"`           // commits, those of status left out
	Steps   int           `json:"steps"`            // of the world
	Fight   bool          `json:"fight,omitempty"`  // a law found that it repeats itself
	Broken  bool          `json:"broken,omitempty"` // stopped at a broken law
	Idle    string        `json:"idle,omitempty"`   // what went round while nothing was written
}

// limits end a settle that does not come to rest by itself.
type limits struct {
	writes int           // 0: maxWrites
	idle   int           // steps without a commit; 0: maxIdle
	time   time.Duration // virtual; 0: none
	rest   bool          // judge the world as at rest when the time has passed
	breach func() bool   // asked after each step; nil: never
}

// The bounds of a settle that names none: far above what any file needs, so
// that a run that never rests ends all the same, and before its history fills
// the memory.
const (
	maxWrites    = 500_000
	maxSteps     = 2_000_000
	maxIdle      = 200_000 // steps without a commit
	maxIdleDrawn = 20_000  // the same in explored runs, of which there are many
)

// After firstLook writes, and again after four times as many, the last lines
// are searched for a repetition that the law does not call a fight because the
// world is not left alone: a view is held, a process is down.
const (
	firstLook   = 512
	lookRecords = 4000
)

// loops reports whether the last records go round in a circle.
func (m *machine) loops() bool {
	h := &m.world.History
	lines := render.Timeline(h, render.Options{From: max(0, h.Len()-lookRecords)})
	first, last, ok := render.Cycle(lines)
	return ok && len(lines)-first > 8*(last-first+1)
}

// settle steps until only faults are enabled, or a limit is reached.
func (m *machine) settle(l limits) Settling {
	m.detector.Reset()
	m.rounds = 0
	m.deed = stepped{record: -1}
	writes, steps, start := m.writes, m.world.Steps(), m.world.Clock.Elapsed()
	if l.writes == 0 {
		l.writes = maxWrites
	}
	if l.idle == 0 {
		l.idle = maxIdle
	}
	m.committed = steps
	s, look := Settling{}, firstLook
	for {
		if l.time > 0 && m.idleUntil() > start+l.time {
			m.world.Clock.Advance(start + l.time - m.world.Clock.Elapsed())
			s.Settled = true
			break
		}
		if !m.world.Step() {
			s.Settled = m.world.Quiet()
			break
		}
		m.spring()
		if m.writes-writes >= l.writes || m.world.Steps()-steps >= maxSteps {
			break
		}
		if m.world.Steps()-m.committed >= l.idle {
			s.Idle = fmt.Sprintf("no write in %d steps: %s", l.idle, m.goingRound())
			break
		}
		if l.breach != nil && l.breach() {
			s.Broken = true
			break
		}
		if s.Fight = m.fought(); s.Fight {
			break
		}
		if done := m.writes - writes; done >= look {
			if look *= 4; m.loops() {
				break
			}
		}
	}
	// What the clock cut short is not at rest: the laws on worlds at rest wait.
	if s.Settled && (l.rest || m.world.Quiet()) {
		m.cluster.Settled()
	}
	s.At, s.Writes, s.Steps = m.world.Clock.Elapsed(), m.writes-writes, m.world.Steps()-steps
	return s
}

// roundSteps is how many more steps are taken to see what goes round: enough
// for a few rounds of a dozen controllers.
const roundSteps = 200

// goingRound takes some more steps, and names what is done in them: who works
// on what, in the order in which it first comes.
func (m *machine) goingRound() string {
	from := m.world.History.Len()
	for range roundSteps {
		if !m.world.Step() {
			break
		}
	}
	var names []string
	h := &m.world.History
	for i := from; i < h.Len(); i++ {
		r := h.At(i)
		if r == nil || r.Op != sim.SyncStart && r.Op != sim.Refusal && r.Op != sim.FaultHit {
			continue
		}
		name := render.Who(r) + " is synced"
		switch r.Op {
		case sim.Refusal:
			name = render.Who(r) + ": " + r.Verb + " " + r.Object.String() + " is refused"
		case sim.FaultHit:
			name = r.Process + ": " + r.Verb
		}
		if !slices.Contains(names, name) {
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

// idleUntil is the time of the next step: now, unless only timers are left.
func (m *machine) idleUntil() time.Duration {
	if e := m.world.Enabled(); len(e) == 0 || e[0].Class != sim.Timer {
		return m.world.Clock.Elapsed()
	}
	if p := m.world.Clock.Pending(); len(p) > 0 {
		return p[0].At
	}
	return m.world.Clock.Elapsed()
}
