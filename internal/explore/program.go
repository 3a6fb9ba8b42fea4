package explore

import "github.com/threelaws/threelaws/sim"

// Program makes a world from a cold start and runs it to its end under c. It
// must be a function of its choices alone, make one world, and hand c to it
// before the first choice to be explored. It ends at the first violation of a law.
//
// When [sim.World.Step] returns false the program asks [Ended]: if the source
// ended the run, it tears down and returns what it knows, without judging the
// world as settled.
type Program func(c sim.Choices) *Outcome

// Outcome is what one run came to.
type Outcome struct {
	Steps    int       // World.Steps at the end
	Hash     uint64    // World.Hash at the end
	State    uint64    // World.StateHash at the end, before anything is torn down; 0 when not known
	Findings []Finding // in the order in which they happened
	Label    string    // the final state in a few words, for the table of outcomes
	Settled  bool      // the world settled
	Fight    bool      // the world repeats itself with writes in between
	Cut      bool      // something that is no part of the state ended the run, or a settle of it: a fight was found
	Unfit    error     // it cannot be run at all, and nothing else is known of it; [Config.Run] alone asks
}

// Finding is a violation.
type Finding struct {
	Law      string // the law's ID
	Text     string // what happened, in one line
	Informed bool   // broken against what the actor had itself been shown
	Step     int    // the step that broke it; 0 when not known
}

// Same reports whether both are violations of one law at one strength.
func (b Finding) Same(c Finding) bool { return b.Law == c.Law && b.Informed == c.Informed }

// Failing is a run that violated a law.
type Failing struct {
	Index     int     // of the run, from 0
	Seed      uint64  // of the run's choices; 0 for an enumerated one
	Strategy  string  // "random", "pct 2", "exhaustive"
	Violation Finding // the first one
	Outcome   *Outcome
	Schedule  Schedule

	block int // see [Config.Block]
}

// Ended reports whether the source of choices ended the run, so that Step
// returning false does not mean that the world is quiet.
func Ended(c sim.Choices) bool {
	e, ok := c.(interface{ Ended() bool })
	return ok && e.Ended()
}

// onlyFaults reports whether leaving it at that is an alternative.
func onlyFaults(enabled []sim.Action) bool { return enabled[0].Class == sim.Fault }

// byDefault is the choice of the default schedule: the first action, but never
// a fault.
func byDefault(enabled []sim.Action) int {
	if onlyFaults(enabled) {
		return -1
	}
	return 0
}

// isEarly reports whether an action is a timer that fires while something else
// than a fault could happen.
func isEarly(enabled []sim.Action, i int) bool {
	return enabled[i].Class == sim.Timer && enabled[0].Class != sim.Timer
}
