package explore

import "fmt"

// Coverage is what an exhaustive search came to.
type Coverage struct {
	Complete bool   // every reachable state was visited
	Stopped  string // why not, otherwise

	States      int // distinct states
	Finals      int // of them, distinct final ones, where the program tells [Outcome.State]
	Schedules   int // runs to the end: complete executions
	Runs        int // runs in all, those pruned on their way included
	Transitions int // decisions explored, the prefixes replayed not counted
	Pruned      int // runs ended in a state that had been explored before
	Asleep      int // runs ended where everything enabled was asleep
	MaxSteps    int // of the longest run
	Cycles      int // runs that returned to a state of their own
	Fights      int // runs that the host recognised as a fight

	Failures []Failure // the first of each law
	Outcomes Table     // of complete executions
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

// stop notes the first reason for not having covered everything.
func (c *Coverage) stop(why string) {
	if c.Stopped == "" {
		c.Stopped = why
	}
}
