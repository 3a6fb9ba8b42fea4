package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/host"
)

// ExploreOptions say how a file is explored.
type ExploreOptions struct {
	Schedules int            // how many; 0 means 1000
	Strategy  string         // mix, random, pct, exhaustive; "" means mix
	Seed      uint64         // of the choices
	Faults    map[string]int // how many faults of each name a run may have
	Strict    bool           // races lost are broken laws
	Mutant    string         // runs instead of its controller; "" for none
	LawsOnly  bool           // what the file itself expects is not asked: it may say so of no faults
	Laws      []string       // the laws that count; all when empty
	States    int            // exhaustive: a bound; 0 for none
	Early     int            // exhaustive: how many timers of a run may fire before their time
	Workers   int            // 0 means all cores; 1 for the same order of memory
	First     bool           // stop at the first broken law
	Whole     bool           // no broken law ends a run: [Exploration].Said is what all laws had to say
	Said      bool           // [Exploration].Said, Beside and Alike are wanted though a broken law ends a run
	Budget    int            // executions that minimizing a failure may take; 0 means 2000
	Patience  time.Duration  // real time that minimizing a failure may take; 0 for any
	Twice     int            // one in so many runs is done twice and compared; 0 means 64
	Steps     int            // a run that took so many, beside three times what the default run needs, does not settle; 0: 20,000 and thirty times

	// Enough, if set, reports whether the schedules that were drawn suffice: an exploration may be bounded by time.
	// Several workers call it at a time.
	Enough func(drawn int) bool

	// Raw, if set, gets each failure as it was found, before it is minimized. It reports whether to minimize it.
	Raw func(f *Counterexample) bool

	// Out is the directory that failures will be written to: there they name the files that the step install reads.
	// "" has them hold what is installed.
	Out string

	Progress func(Progress) // for drawn schedules
	Covered  func(*Coverage)

	_ struct{}
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

// ParseFaults reads "crash:1,relist:2"; a name alone means one. The string says
// what is wrong, "" when nothing is.
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

// faults reads the fault budget of a step that was checked, nil for none.
func (s *Step) faults() map[string]int {
	v, ok := s.Param("faults")
	if !ok {
		return nil
	}
	counts, _ := ParseFaults(v)
	return counts
}

// faultsArg is the argument that [ParseFaults] reads, "" for no faults.
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

// Progress is how far the drawing of schedules has come: what
// [ExploreOptions].Progress is told.
type Progress = explore.Progress

// Coverage is what an exhaustive search has seen so far: what
// [ExploreOptions].Covered is told, and [NotVaried] puts in words.
type Coverage = explore.Coverage

// Outcome is what one run of a [Script] came to.
type Outcome = explore.Outcome

// Schedule is the decisions of one run of a [Script], in order, as it is replayed and
// made small by.
type Schedule = explore.Schedule

// Page is a run as it is shown: its lines, the law that it broke, and why.
type Page = render.Page
