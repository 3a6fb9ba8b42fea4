package explore

import "fmt"

// Coverage is what an exhaustive search came to.
type Coverage struct {
	Complete bool   `json:"complete"`          // every reachable state was visited
	Stopped  string `json:"stopped,omitempty"` // why not, otherwise

	States      int `json:"states"`      // distinct states
	Finals      int `json:"finals"`      // of them, distinct final ones, where the program tells [Outcome.State]
	Schedules   int `json:"schedules"`   // runs to the end: complete executions
	Runs        int `json:"runs"`        // runs in all, those pruned on their way included
	Transitions int `json:"transitions"` // decisions explored, the prefixes replayed not counted
	Pruned      int `json:"pruned"`      // runs ended in a state that had been explored before
	Asleep      int `json:"asleep"`      // runs ended where everything enabled was asleep
	MaxSteps    int `json:"maxSteps"`    // of the longest run
	EarlyTimers int `json:"earlyTimers"` // the bound: of timers of a run that fire while something else could happen; negative for none
	Cycles      int `json:"cycles"`      // runs that returned to a state of their own
	Fights      int `json:"fights"`      // runs that the host recognised as a fight

	Failures []Failure `json:"-"`        // the first of each law
	Outcomes Table     `json:"outcomes"` // of complete executions
}

// String renders the coverage in one line.
func (c *Coverage) String() string {
	s := fmt.Sprintf("%d states, %d schedules, %d transitions, %d pruned, at most %d steps",
		c.States, c.Schedules, c.Transitions, c.Pruned+c.Asleep, c.MaxSteps)
	if c.Complete {
		return "covered everything: " + s
	}
	return "stopped (" + c.Stopped + "): " + s
}

// Time says what was asked of timers, in a few words.
func (c *Coverage) Time() string {
	if c.EarlyTimers < 0 {
		return "timers: any before its time"
	}
	return fmt.Sprintf("timers: at most %d before their time", c.EarlyTimers)
}

// stop notes the first reason for not having covered everything.
func (c *Coverage) stop(why string) {
	if c.Stopped == "" {
		c.Stopped = why
	}
}
