package scenarios

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
)

// Exploration is the result of an exploration, random or exhaustive.
//
// A pass proves something only if Complete is set. Otherwise the exploration was interrupted or cut short, or no
// schedule reached its end.
type Exploration struct {
	Schedules   int           `json:"schedules"`
	Distinct    int           `json:"distinct"`
	Failed      int           `json:"failed"`    // schedules with a violation; for an exhaustive search, violated laws
	Unsettled   int           `json:"unsettled"` // schedules that did not settle and violated no other law
	Ended       int           `json:"-"`         // schedules that reached a settled world, a fight, or a violation
	Outcomes    []explore.Row `json:"outcomes"`
	Fights      int           `json:"-"` // random schedules that ended in a fight
	Interrupted bool          `json:"-"` // the user interrupted the exploration

	// Complete means that an exhaustive search covered all schedules, or that the requested number of random schedules
	// was run. At least one schedule must have reached its end or violated a law.
	Complete bool              `json:"-"`
	Stopped  string            `json:"-"` // why the exploration is not complete
	Coverage *explore.Coverage `json:"-"` // only for exhaustive searches; Fixed lists what is the same in all schedules

	Failures []*Counterexample `json:"-"` // the first failure of each law
	Wrote    map[string]bool   `json:"-"` // controllers that wrote in at least one schedule
	Settled  map[string]bool   `json:"-"` // controllers with an object of their kind in at least one settled world
	Middle   string            `json:"-"` // what a time limit interrupted in one schedule; no law was evaluated there
	Keyed    map[string]bool   `json:"-"` // controllers that reconciled a key that names an object of their kind
	Said     []Said            `json:"-"` // for the options Whole and Said; sorted by controller and law
	Beside   []Beside          `json:"-"` // for the options Whole and Said; sorted
	Alike    []string          `json:"-"` // for the options Whole and Said: kinds whose names exist in two API groups
	Vain     []Vain            `json:"-"` // user actions that were refused in every schedule

	Laws    map[string]campaign.Often `json:"-"`                 // in how many random schedules each law was violated
	Results string                    `json:"results,omitempty"` // the path of the result file

	Uncompared string `json:"-"` // what the law same-end did not compare, and why
}

// WriteFile writes a scenario file that replays the failure.
func (c *Counterexample) WriteFile(path string) error { return writeFile(path, c.File) }

// Vain is a user step that was refused in every schedule.
type Vain struct {
	Step int    // index in [File.Steps]
	Text string // the step as written
	Why  string // the reason of one refusal
}

// mostOutcomes is the maximal number of outcomes that are printed, the most frequent first.
const mostOutcomes = 12

// Text formats the exploration as the output of the verb.
func (x *Exploration) Text() string {
	var b strings.Builder
	if c := x.Coverage; c != nil {
		how := "covered everything"
		if !c.Complete {
			how = "stopped: " + c.Stopped
		}
		fmt.Fprintf(&b, "%s: %s, %s, %s, %s\n", how, plural(c.States, "state"), plural(c.Schedules, "schedule"),
			plural(x.Failed, "violation"), plural(len(x.Outcomes), "outcome"))
		for _, line := range c.NotVaried() {
			b.WriteString(render.Fold(line))
		}
	} else {
		fmt.Fprintf(&b, "%s, %s, %s\n",
			plural(x.Schedules, "schedule"), plural(x.Failed, "violation"), plural(len(x.Outcomes), "outcome"))
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
	if x.Uncompared != "" {
		b.WriteString(render.Fold(sameEnd + ": " + x.Uncompared))
	}
	for _, f := range x.Failures {
		fmt.Fprintf(&b, "%s, first in schedule %d: %s\n", f.Law, f.Index, f.Text)
	}
	if len(x.Failures) > 0 {
		b.WriteString(x.Failures[0].Page.Short())
	}
	return b.String()
}

func (x *Exploration) count(name string, n int) {
	if x.Laws == nil {
		x.Laws = map[string]campaign.Often{}
	}
	x.Laws[name] = campaign.Often{Failed: n, Of: x.Schedules}
}

// sayHowOften adds to each failure in how many schedules its law was violated.
func (x *Exploration) sayHowOften() {
	for _, f := range x.Failures {
		if o, ok := x.Laws[f.Law]; ok {
			f.Often = &o
			f.Page.Small += "; in " + o.String()
		}
	}
}
