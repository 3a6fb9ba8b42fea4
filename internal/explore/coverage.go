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
	Finals      int // distinct final states, which are also in States; 0 if the program does not set [Outcome.State]
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

// timers describes which orders of timers and other actions were not explored.
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

// conclude decides whether the search is complete. A search without shards is incomplete if every run was cut short and
// none violated a law.
//
// A search is also incomplete if a fight ended a run. A fight is found in the run's history, which is not part of the
// state, so later states may be missing. If a complete search found no fight, the world has none: every write leaves a
// trace in the state, so the search of a world that writes for ever does not end.
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

// NotVaried returns a line about the livelocks, if there are any, and a line about the choices that were not varied.
func (c *Coverage) NotVaried() (lines []string) {
	switch {
	case c.Livelock != "" && c.Livelocks == 1:
		lines = append(lines, "1 livelock: "+c.Livelock)
	case c.Livelock != "":
		lines = append(lines, fmt.Sprintf("%d livelocks: %s", c.Livelocks, c.Livelock))
	}
	return append(lines, "not varied: "+strings.Join(c.Fixed, "; "))
}
