package explore

import (
	"fmt"
	"strings"
)

// Coverage is the result of an exhaustive search.
type Coverage struct {
	Complete bool   // every reachable state of the search or shard was visited; see conclude
	Stopped  string // why the search is not complete

	States      int // distinct states
	Finals      int // distinct final states, if the program sets [Outcome.State]; included in States
	Schedules   int // complete executions
	Runs        int // all runs, also pruned ones
	Transitions int // decisions that were explored, not counting replayed prefixes
	Pruned      int // runs that ended in a state that was already explored
	Asleep      int // runs that ended because every enabled action was asleep
	MaxSteps    int // steps of the longest run
	// EarlyTimers is the bound on early timers per run. A negative value means no bound.
	EarlyTimers int
	Cycles      int // runs that returned to one of their own states
	Fights      int // runs that the host recognized as a fight
	// Livelocks counts the cycles in which no enabled action was starved, and the runs that hit the program's bound.
	Livelocks int

	Livelock string   // description of the first livelock
	Fixed    []string // choices that no schedule varied

	Failures []Failing // the first failure of each law
	Outcomes Table     // outcomes of the complete executions

	cut int // runs with [Outcome.Cut] set
}

// String formats the coverage in one line. Further lines contain the first livelock and what was not varied.
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

// timers describes the orders of timers and other actions that were not explored.
func (c *Coverage) timers() []string {
	switch {
	case c.EarlyTimers < 0:
		return nil
	case c.EarlyTimers == 0:
		return []string{"timers that fire while other actions are possible"}
	}
	return []string{fmt.Sprintf("more than %d early timers in a run", c.EarlyTimers)}
}

func (c *Coverage) stop(why string) {
	if c.Stopped == "" {
		c.Stopped = why
	}
}

// noSchedule is the reason for an incomplete search if no schedule ended.
const noSchedule = "no schedule came to its end"

// conclude decides whether the search is complete. A whole search is incomplete if no schedule ended and no run
// violated a law.
//
// A search is also incomplete if a run was cut at a fight. Fights are detected by the history, which is not part of the
// state, so states after the cut may be missing. A complete search without fights proves that there are none: every
// write leaves a trace in the state, so a world that writes for ever has infinitely many states.
func (s *search) conclude() {
	c := s.cover
	if c.cut > 0 {
		c.stop(fmt.Sprintf("%d runs were cut short by a fight", c.cut))
	}
	if c.Schedules == 0 && len(c.Failures) == 0 && s.Shards <= 1 && s.Resume == nil {
		c.stop(noSchedule)
	}
	c.Fixed = append(c.timers(), s.Fixed...)
	c.Complete = c.Stopped == ""
}

// NotVaried returns sentences about the found livelocks and about the choices that were not varied.
func (c *Coverage) NotVaried() (lines []string) {
	switch {
	case c.Livelock != "" && c.Livelocks == 1:
		lines = append(lines, "1 livelock: "+c.Livelock)
	case c.Livelock != "":
		lines = append(lines, fmt.Sprintf("%d livelocks: %s", c.Livelocks, c.Livelock))
	}
	return append(lines, "not varied: "+strings.Join(c.Fixed, "; "))
}
