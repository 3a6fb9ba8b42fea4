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
	Faults    map[string]int // how many faults of each kind a run may have, by name
	Strict    bool           // lost races are violations too
	Mutant    string         // the mutant that runs in place of its controller; "" for none
	LawsOnly  bool           // ignore the file's own expectations, because they may not allow for faults
	Laws      []string       // the laws that count; empty means all
	States    int            // exhaustive: the maximum number of states; 0 for no limit
	Early     int            // exhaustive: how many timers of a run may fire early
	Workers   int            // 0 means all cores; with 1, memory use is reproducible
	First     bool           // stop at the first violation
	Whole     bool           // no violation ends a run, so that [Exploration].Said covers all laws
	Said      bool           // fill [Exploration].Said, Beside and Alike even if a violation ends a run
	Budget    int            // maximum number of runs for minimizing a failure; 0 means 2000
	Patience  time.Duration  // maximum real time for minimizing a failure; 0 for no limit
	Likely    time.Duration  // real time for finding the step that decides each failure; 0: skip this
	Twice     int            // one in this many runs is run twice and compared; 0 means 64
	Steps     int            // steps that a run may take beyond three times the default run; 0: 20,000 beyond thirty times

	// Enough, if set, reports whether enough schedules were run, for example after some time. Several workers may call
	// it concurrently.
	Enough func(drawn int) bool

	// Accept, if set, returns why a failure is accepted, or "". It is called before and after minimizing. An accepted
	// failure is not minimized.
	Accept func(f *Counterexample) string

	// Raw, if set, gets each failure before it is minimized, unless it is accepted. It is not called with Results.
	Raw func(f *Counterexample)

	// Shard is the part to explore: a range of the schedules, or a part of the exhaustive search. Results is the
	// directory for its result file; "" for none. A shard continues from its result file. With a result file, only
	// Budget limits minimizing. World is the shard's name in the result file; "" means the scenario file's name. Again is the command that replays a failure, up to
	// the path of its file; "" for the command replay.
	Shard     campaign.Shard
	Results   string
	World     string
	Again     string
	SaveEvery time.Duration // the interval at which the result file is written; 0 means 15 seconds

	// Full, if set, returns the reason if memory is used up, or "". The exploration then ends with what it has found.
	Full func() string

	// Out is the directory for failures. Files in it name what the step install reads. With "", files contain what is
	// installed.
	Out string

	Progress func(explore.Progress) // for random schedules
	Covered  func(*explore.Coverage)

	_ struct{}
}

// enough reports whether to run no more schedules.
func (o *ExploreOptions) enough(drawn int) bool {
	return o.Enough != nil && o.Enough(drawn) || drawn > 0 && o.Full != nil && o.Full() != ""
}

// ExploreOptions reads the options of an exploring step.
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

// ParseFaults reads "crash:1,relist:2". A name without a number means one. The string is the error text, or "".
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

// faults reads the fault budget of a checked step, or nil.
func (s *Step) faults() map[string]int {
	v, ok := s.Param("faults")
	if !ok {
		return nil
	}
	counts, _ := ParseFaults(v)
	return counts
}

// faultsArg formats an argument for [ParseFaults], or "".
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
