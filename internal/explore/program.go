package explore

import "github.com/threelaws/threelaws/sim"

// Runner makes a world from a cold start and runs it to its end under c. It must be a function of its choices alone.
// It makes one world and hands c to it before the first choice to be explored. It ends at the first violation of a law.
//
// When [sim.World.Step] returns false, the program calls [Ended]. If the source ended the run, the program tears down
// and returns the outcome so far. It does not judge the world as settled.
type Runner func(c sim.Choices) *Outcome

// Outcome is the result of one run.
type Outcome struct {
	Steps    int         // World.Steps at the end
	Hash     uint64      // World.Hash at the end
	State    uint64      // World.StateHash at the end, before the teardown; 0 if not known
	Findings []Violation // in order of occurrence
	Label    string      // short description of the final state, for the table of outcomes
	Settled  bool        // the world settled
	Fight    bool        // the world repeats itself with writes in between: a fight
	Cut      bool        // a fight ended the run or one of its settles; fights are not part of the state
	Unfit    error       // why the program cannot be run; all other fields are then unknown; used by [Config.Run] only
}

// Violation is a violation.
type Violation struct {
	Law      string // ID of the law
	Text     string // what happened, in one line
	Informed bool   // violated against what the actor itself had observed
	Step     int    // step of the violation; 0 if not known
}

// Same reports whether both findings are violations of one law, both informed or both not.
func (b Violation) Same(c Violation) bool { return b.Law == c.Law && b.Informed == c.Informed }

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

// Ended reports whether the source of choices ended the run. If it did, a false result of Step does not mean that the
// world is quiet.
func Ended(c sim.Choices) bool {
	e, ok := c.(interface{ Ended() bool })
	return ok && e.Ended()
}

// onlyFaults reports whether all enabled actions are faults, so that taking none is an alternative.
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
