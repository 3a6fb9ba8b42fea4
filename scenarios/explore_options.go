package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim/host"
)

// ExploreOptions configure an exploration.
type ExploreOptions struct {
	Schedules int            // number of schedules; 0 means 1000
	Strategy  string         // mix, random, pct, exhaustive; "" means mix
	Seed      uint64         // seed of the choices
	Faults    map[string]int // the maximal number of faults in a run, by the fault's name
	Strict    bool           // a violation counts even if the process could not know of it (a lost race)
	Mutant    string         // the mutant that runs in place of its controller; "" for none
	LawsOnly  bool           // ignore the file's expectations, because they may not hold with faults
	Laws      []string       // the names or IDs of the laws that count; empty means all
	States    int            // for exhaustive: the maximal number of states; 0 means no limit
	Early     int            // for exhaustive: how many timers of a run may fire while another action is possible
	Workers   int            // the number of workers; 0 means one per core; with 1, memory use is reproducible
	First     bool           // stop at the first violation
	Whole     bool           // runs do not end at violations, so that [Exploration].Said contains all laws
	Said      bool           // fill [Exploration].Said, Beside and Alike even if a violation ends a run
	Budget    int            // the maximal number of runs for minimizing a failure; 0 means 2000
	Patience  time.Duration  // the maximal real time for minimizing a failure; 0 means no limit
	Likely    time.Duration  // the real time for measuring how likely each failure is after each step; 0 for none
	Twice     int            // one run in this many, and each failed run, is repeated and compared; 0 means 64
	Steps     int            // a run takes at most Steps + 3 times the default run's steps; 0 means 20,000 + 30 times

	// Enough, if not nil, is called with the number of schedules that were run, and reports whether they suffice.
	// Several workers may call it concurrently.
	Enough func(drawn int) bool

	// Accept, if not nil, returns why a failure is accepted, or "" if it is not. It is called before and after
	// minimizing. If it accepts a failure before minimizing, the failure is not minimized.
	Accept func(f *Counterexample) string

	// Raw, if not nil, is called with each failure that is not accepted, before it is minimized. It is not called if
	// Results is set.
	Raw func(f *Counterexample)

	// Shard is the part to explore: a range of the schedules, or a part of the exhaustive search. Results is the
	// directory for the result file; "" means none. A shard continues from its result file. If there is a result file,
	// minimizing is limited only by Budget. World is the name of the shard's world in the result file; "" means the
	// scenario file's name. Again is the command that replays a failure, without the path of the failure's file; ""
	// means the command replay.
	Shard     campaign.Shard
	Results   string
	World     string
	Again     string
	SaveEvery time.Duration // the interval at which the result file is written; 0 means 15 seconds

	// Full, if not nil, returns why no more memory should be used, or "". The exploration then ends with the results so
	// far.
	Full func() string

	// Out is the directory for failures. If Out is set, failures refer to the files that the step install reads.
	// Otherwise they contain the installed objects.
	Out string

	Progress func(explore.Progress) // called during random schedules; may be nil
	Covered  func(*explore.Coverage)

	_ struct{}
}

func (o *ExploreOptions) enough(drawn int) bool {
	return o.Enough != nil && o.Enough(drawn) || drawn > 0 && o.Full != nil && o.Full() != ""
}

// ExploreOptions returns the options of an explore or mutant step.
func (s *Step) ExploreOptions() (ExploreOptions, error) {
	o := ExploreOptions{Schedules: 1000, Seed: 1, Strategy: "mix"}
	if s.Verb == "mutant" {
		o.Schedules = 500
	}
	var err error
	if o.Schedules, err = s.number("schedules", o.Schedules); err != nil {
		return o, err
	}
	if o.States, err = s.number("states", 0); err != nil {
		return o, err
	}
	if o.Early, err = s.number("early-timers", 0); err != nil {
		return o, err
	}
	if v, ok := s.Param("seed"); ok {
		if o.Seed, err = strconv.ParseUint(v, 0, 64); err != nil {
			return o, s.wrong("seed=%s is not a number", v)
		}
	}
	if v, ok := s.Param("strategy"); ok {
		o.Strategy = v
	}
	if o.States > 0 && o.Strategy != "exhaustive" {
		return o, s.wrong("states=%d bounds strategy=exhaustive only; drawn schedules are bounded by schedules=N",
			o.States)
	}
	if v, ok := s.Param("laws"); ok {
		o.Laws = strings.Split(v, ",")
	}
	o.Strict = s.flag("strict")
	if v, ok := s.Param("faults"); ok {
		var what string
		if o.Faults, what = ParseFaults(v); what != "" {
			return o, s.wrong("faults: %s", what)
		}
	}
	return o, nil
}

// ParseFaults parses a fault budget, for example "crash:1,relist:2". A name without a number means 1. The string is the
// text of an error, or "".
func ParseFaults(text string) (map[string]int, string) {
	counts := map[string]int{}
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(part, ":")
		n := 1
		if ok {
			var err error
			if n, err = strconv.Atoi(number); err != nil || n < 0 {
				return nil, number + " is not a number of faults"
			}
		}
		if !slices.Contains(host.FaultNames, name) {
			return nil, "unknown fault " + name + suggest(name, host.FaultNames)
		}
		counts[name] += n
	}
	return counts, ""
}

func (s *Step) faults() map[string]int {
	v, ok := s.Param("faults")
	if !ok {
		return nil
	}
	counts, _ := ParseFaults(v)
	return counts
}

// faultsArg formats a fault budget for [ParseFaults]. It returns "" for an empty budget.
func faultsArg(faults map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		parts = append(parts, fmt.Sprintf("%s:%d", name, faults[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " faults=" + strings.Join(parts, ",")
}
