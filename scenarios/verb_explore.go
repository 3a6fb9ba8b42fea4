package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/host"
)

var verbExplore = &Verb{
	Name: "explore", Args: "[schedules=N] [strategy=mix|random|pct|exhaustive] [seed=N] [faults=NAME:N,...] [states=N] [early-timers=N] [laws=LAW,...] [--strict]", Max: 0,
	Summary: "run the file so far under other schedules",
	Detail: `The steps above it are run again and again; see "running a file again". Prints how
many schedules there were, how many broke a law, and what they came to. The
first broken law is made small and shown. exhaustive enumerates every schedule
up to equivalence, and says whether it covered everything; in it, time passes
while something else could happen as often as early-timers says. faults may be crash,
stale, conflict, throttle, error, lost, relist and resync; a name alone means one. --strict counts races
that were lost as broken laws.`,
	Example: "explore schedules=2000\nexplore strategy=exhaustive\nexplore schedules=500 faults=crash:1,relist:1",
	Params: []Param{
		{Name: "schedules", Summary: "how many; 1000 without it"},
		{Name: "strategy", Summary: "how they are drawn", Values: []string{"mix", "random", "pct", "exhaustive"}},
		{Name: "seed", Summary: "of the choices; 1 without it"},
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "states", Summary: "exhaustive: stop after so many states"},
		{Name: "early-timers", Summary: "exhaustive: how many timers of a run may fire while something else could happen; 0 without it"},
		{Name: "laws", Summary: "only these laws count"},
		{Name: "strict", Summary: "races lost are broken laws", Values: []string{"true", "false"}},
	},
	explores: true,
	check: func(c *checker, s *Step) error {
		o, err := s.ExploreOptions()
		if err != nil {
			return err
		}
		for _, l := range o.Laws {
			if _, what := c.registry.law(l); what != "" {
				return s.wrong("%s", what)
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		o, err := s.ExploreOptions()
		if err != nil {
			return err
		}
		o.Strict = o.Strict || r.Strict
		x, err := Explore(context.Background(), r.file, slices.Index(r.file.Steps, s), r.Registry, o)
		if err != nil {
			e := s.fail(ExitNondetermine, "%v", err)
			return e
		}
		r.printf("%s", x.Text())
		if len(x.Failures) > 0 {
			f := x.Failures[0]
			r.found = f
			return s.fail(ExitFail, "%s is broken in schedule %d: %s", f.Law, f.Index, f.Text)
		}
		if x.Unsettled > 0 {
			return s.fail(ExitNotSettled, "%s did not settle", plural(x.Unsettled, "schedule"))
		}
		return nil
	},
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
		return o, s.wrong("states=%d bounds strategy=exhaustive only; drawn schedules are bounded by schedules=N", o.States)
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

// NotVaried words what an exhaustive search found that goes round, and what it
// did not vary.
func NotVaried(c *explore.Coverage) string {
	text := ""
	if c.Livelock != "" {
		text = render.Fold(fmt.Sprintf("%s: %s", plural(c.Livelocks, "livelock"), c.Livelock))
	}
	return text + render.Fold("not varied: "+strings.Join(c.Fixed, "; "))
}

// mostOutcomes is how many outcomes are printed, the most frequent ones.
const mostOutcomes = 12

// Text renders the exploration as it stands beneath the verb.
func (x *Exploration) Text() string {
	var b strings.Builder
	if c := x.Coverage; c != nil {
		how := "covered everything"
		if !c.Complete {
			how = "stopped: " + c.Stopped
		}
		fmt.Fprintf(&b, "%s: %s, %s, %s, %s\n", how, plural(c.States, "state"), plural(c.Schedules, "schedule"),
			plural(x.Failed, "violation"), plural(len(x.Outcomes), "outcome"))
		b.WriteString(NotVaried(c))
	} else {
		fmt.Fprintf(&b, "%s, %s, %s\n", plural(x.Schedules, "schedule"), plural(x.Failed, "violation"), plural(len(x.Outcomes), "outcome"))
	}
	var t render.Table
	t.Indent = "  "
	for i, o := range x.Outcomes {
		if i == mostOutcomes {
			t.Add("   ...", plural(len(x.Outcomes)-i, "outcome")+" more")
			break
		}
		t.Add(fmt.Sprintf("%6d", o.Count), o.Label)
	}
	b.WriteString(t.String())
	for _, f := range x.Failures {
		fmt.Fprintf(&b, "%s, first in schedule %d: %s\n", f.Law, f.Index, f.Text)
	}
	if len(x.Failures) > 0 {
		b.WriteString(x.Failures[0].Page.Short())
	}
	return b.String()
}
