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
	Schedules int            // how many; 0 means 1000
	Strategy  string         // mix, random, pct, exhaustive; "" means mix
	Seed      uint64         // seed of the choices
	Faults    map[string]int // how many faults of each name a run may have
	Strict    bool           // lost races are violations
	Mutant    string         // runs instead of its controller; "" for none
	LawsOnly  bool           // ignore the file's own expectations: they may not allow for faults
	Laws      []string       // the laws that count; all when empty
	States    int            // exhaustive: a bound; 0 for none
	Early     int            // exhaustive: how many timers of a run may fire before their time
	Workers   int            // 0 means all cores; 1 uses memory in a reproducible order
	First     bool           // stop at the first violation
	Whole     bool           // no violation ends a run: [Exploration].Said covers all laws
	Said      bool           // fill [Exploration].Said, Beside and Alike although a violation ends a run
	Budget    int            // executions that minimizing a failure may take; 0 means 2000
	Patience  time.Duration  // real time that minimizing a failure may take; 0 for no limit
	Likely    time.Duration  // real time to find out at which step each failure was decided; 0: not at all
	Twice     int            // run one in so many twice and compare; 0 means 64
	Steps     int            // steps of a run beyond three times the default run; 0: 20,000 beyond thirty times

	// Enough, if set, reports whether enough schedules were drawn, for example after some time. Several workers may
	// call it concurrently.
	Enough func(drawn int) bool

	// Accept, if set, returns why a failure is accepted, or "". It is called before and after minimizing. An accepted
	// failure is not minimized.
	Accept func(f *Counterexample) string

	// Raw, if set, gets each failure before it is minimized, unless it is accepted. It is not called with Results.
	Raw func(f *Counterexample)

	// Shard is the part that is explored: a range of the schedules, or a part of the exhaustive search. Results is the
	// directory for its result file; "" for none. With a file, minimizing is bounded by Budget only. A shard continues
	// from its file. World is its name there; "" for the file's name. Again is the command that replays a failure, up to
	// the path of its file; "" for the command replay.
	Shard     campaign.Shard
	Results   string
	World     string
	Again     string
	SaveEvery time.Duration // how often the file is written; 0 means 15 seconds

	// Full, if set, returns why the memory is used up, or "". The exploration then ends with what it has found.
	Full func() string

	// Out is the directory for failures. In that directory, files name what the step install reads. With "", they
	// contain what is installed.
	Out string

	Progress func(explore.Progress) // for drawn schedules
	Covered  func(*explore.Coverage)

	_ struct{}
}

// enough reports whether no more schedules are drawn.
func (o *ExploreOptions) enough(drawn int) bool {
	return o.Enough != nil && o.Enough(drawn) || drawn > 0 && o.Full != nil && o.Full() != ""
}

// ExploreOptions reads the options of a step that explores.
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

// ParseFaults reads "crash:1,relist:2"; a bare name means one. The string is the error text, or "".
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
