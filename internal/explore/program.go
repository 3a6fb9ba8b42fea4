package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// Runner makes a world from a cold start and runs it to its end. All decisions come from c, and the result depends only
// on them. It makes one world, and passes c to it before the first choice. It ends at the first violation.
//
// If [sim.World.Step] returns false and [Ended] returns true, c ended the run. Then the Runner returns the outcome so
// far. It does not judge the world as settled.
type Runner func(c sim.Choices) *Outcome

// Outcome is the result of one run.
type Outcome struct {
	Steps    int         // World.Steps at the end
	Hash     uint64      // World.Hash at the end
	State    uint64      // World.StateHash at the end, before the teardown; 0 if unknown
	Findings []Violation // the violations, in order of occurrence
	Label    string      // short description of the final state, for counting outcomes
	Settled  bool        // the world settled
	Fight    bool        // the world fights: its state repeats, with writes in between
	Cut      bool        // a fight ended the run, or a settle step in it
	Unfit    error       // why the program cannot be run; the other fields are then not set; only for [Config.Run]
}

// Violation is a violation of a law.
type Violation struct {
	Law      string // ID of the law
	Text     string // what happened, in one line
	Informed bool   // the actor had observed enough to avoid it
	Step     int    // step of the violation; 0 if not known

	Cause []string // what led to the violation; a run that [Shrink] accepts has no other cause
}

// Same reports whether both are violations of the same law, and Informed is equal.
func (b Violation) Same(c Violation) bool { return b.Law == c.Law && b.Informed == c.Informed }

func (b *Violation) text() string {
	if b == nil {
		return "no violation"
	}
	return fmt.Sprintf("%s at step %d (%s)", b.Law, b.Step, b.Text)
}

// Failing is a run that violated a law.
type Failing struct {
	Index     int       // index of the run, from 0
	Seed      uint64    // seed of the run's choices; 0 for an enumerated run
	Strategy  string    // "random", "pct 2", "exhaustive"
	Violation Violation // the first violation
	Outcome   *Outcome
	Schedule  Schedule

	block int // see [Config.Block]
}

// Ended reports whether the source of choices ended the run. Then Step may have returned false although the world has
// not settled.
func Ended(c sim.Choices) bool {
	e, ok := c.(interface{ Ended() bool })
	return ok && e.Ended()
}

// onlyFaults reports whether all enabled actions are faults. Then it is also possible to take no action.
func onlyFaults(enabled []sim.Action) bool { return enabled[0].Class == sim.Fault }

// byDefault returns the choice of the default schedule: the first action, or -1 if only faults are enabled.
func byDefault(enabled []sim.Action) int {
	if onlyFaults(enabled) {
		return -1
	}
	return 0
}

// isEarly reports whether an action is a timer that fires while an action other than a fault or a timer is enabled.
func isEarly(enabled []sim.Action, i int) bool {
	return enabled[i].Class == sim.Timer && enabled[0].Class != sim.Timer
}
