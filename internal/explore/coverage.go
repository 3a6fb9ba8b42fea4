package explore

import (
	"fmt"
	"strings"
)

// Coverage is what an exhaustive search came to.
type Coverage struct {
	Complete bool   `json:"complete"`          // every reachable state was visited, and some schedule came to its end
	Stopped  string `json:"stopped,omitempty"` // why not, otherwise

	States      int `json:"states"`      // distinct states
	Finals      int `json:"finals"`      // of them, distinct final ones, where the program tells [Outcome.State]
	Schedules   int `json:"schedules"`   // runs to the end: complete executions
	Runs        int `json:"runs"`        // runs in all, those pruned on their way included
	Transitions int `json:"transitions"` // decisions explored, the prefixes replayed not counted
	Pruned      int `json:"pruned"`      // runs ended in a state that had been explored before
	Asleep      int `json:"asleep"`      // runs ended where everything enabled was asleep
	MaxSteps    int `json:"maxSteps"`    // of the longest run
	// the bound: of timers of a run that fire while something else could happen; negative for none
	EarlyTimers int `json:"earlyTimers"`
	Cycles      int `json:"cycles"` // runs that returned to a state of their own
	Fights      int `json:"fights"` // runs that the host recognised as a fight
	// of the cycles, those in which nobody was kept waiting; and runs that met the program's bound
	Livelocks int `json:"livelocks"`

	Livelock string   `json:"livelock,omitempty"` // the first of them, in words
	Fixed    []string `json:"fixed"`              // what was the same in every schedule

	Failures []Failing `json:"-"`        // the first of each law
	Outcomes Table     `json:"outcomes"` // of complete executions

	cut int // runs with an [Outcome.Cut]
}

// String renders the coverage in one line, and in a second one what was not varied.
func (c *Coverage) String() string {
	s := fmt.Sprintf("%d states, %d schedules, %d transitions, %d pruned, at most %d steps",
		c.States, c.Schedules, c.Transitions, c.Pruned+c.Asleep, c.MaxSteps)
	if c.Complete {
		s = "covered everything: " + s
	} else {
		s = "stopped (" + c.Stopped + "): " + s
	}
	if c.Livelock != "" {
		s += fmt.Sprintf("\n%d livelocks, the first: %s", c.Livelocks, c.Livelock)
	}
	return s + "\nnot varied: " + strings.Join(c.Fixed, "; ")
}

// timers says what was not varied of timers against what can happen before they
// are due.
func (c *Coverage) timers() []string {
	switch {
	case c.EarlyTimers < 0:
		return nil
	case c.EarlyTimers == 0:
		return []string{"timers against what can happen before they are due"}
	}
	return []string{fmt.Sprintf("more than %d timers of a run before their time", c.EarlyTimers)}
}

// stop notes the first reason for not having covered everything.
func (c *Coverage) stop(why string) {
	if c.Stopped == "" {
		c.Stopped = why
	}
}

// noSchedule is why a search that met every state has covered nothing all the same.
const noSchedule = "no schedule came to its end"

// conclude decides whether everything was covered. A search in which no schedule
// came to its end, and none was ended by a violation, has covered nothing. Who
// finds fights compares with what came before, which is no part of the state: what
// lies behind one may not have been reached. Where none was found there is none:
// every write leaves its trace, so a world that can write for ever has no end of
// states.
func (s *search) conclude() {
	c := s.cover
	if c.cut > 0 {
		c.stop(fmt.Sprintf("%d runs were cut short by a fight, and not followed behind it", c.cut))
	}
	if c.Schedules == 0 && len(c.Failures) == 0 && s.Shards <= 1 && s.Resume == nil {
		c.stop(noSchedule)
	}
	c.Fixed = append(c.timers(), s.Fixed...)
	c.Complete = c.Stopped == ""
}
