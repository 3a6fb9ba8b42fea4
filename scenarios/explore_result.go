package scenarios

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
)

// Exploration is the result of an exploration, drawn or exhaustive.
//
// A pass is meaningful only if Complete is set. Otherwise an enumeration stopped before it had covered everything, or
// no drawn schedule settled.
type Exploration struct {
	Schedules   int           `json:"schedules"`
	Distinct    int           `json:"distinct"`
	Failed      int           `json:"failed"`    // schedules that violated a law
	Unsettled   int           `json:"unsettled"` // schedules that did not settle and broke no other law
	Ended       int           `json:"-"`         // schedules that came to an end: settled, in a fight, at a violation
	Outcomes    []explore.Row `json:"outcomes"`
	Fights      int           `json:"-"` // schedules that ended in a fight; drawn ones only
	Interrupted bool          `json:"-"` // drawing was interrupted

	// everything was enumerated or drawn, and at least one run ended
	Complete bool              `json:"-"`
	Stopped  string            `json:"-"` // why it is not complete
	Coverage *explore.Coverage `json:"-"` // exhaustive only; its Fixed lists what no schedule varied

	Failures []*Counterexample `json:"-"` // the first of each law
	Wrote    map[string]bool   `json:"-"` // the controllers that wrote something in some schedule
	Settled  map[string]bool   `json:"-"` // controllers with an object of their kind in a settled world
	Middle   string            `json:"-"` // the work that the time limit cut off in some schedule, which was not judged
	Keyed    map[string]bool   `json:"-"` // controllers with a key that named an object of their kind
	Said     []Said            `json:"-"` // with options Whole or Said; by controller and clause
	Beside   []Beside          `json:"-"` // with Said; by controller, kind and why
	Alike    []string          `json:"-"` // with Said: kinds that existed in two groups
	Vain     []Vain            `json:"-"` // user actions refused in every schedule

	Laws    map[string]campaign.Often `json:"-"`                 // drawn schedules: how many violate each law, by its name
	Results string                    `json:"results,omitempty"` // the result file

	Uncompared string `json:"-"` // what the law same-end leaves out, and why
}

// WriteFile writes the scenario file that replays the failure.
func (c *Counterexample) WriteFile(path string) error { return writeFile(path, c.File) }

// Vain is a user step that was refused in every schedule.
type Vain struct {
	Step int    // index in [File.Steps]
	Text string // the step
	Why  string // a refusal
}

// mostOutcomes limits the printed outcomes to the most frequent ones.
const mostOutcomes = 12

// Text formats the exploration as the verb's output.
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

// count notes how many schedules violate a law.
func (x *Exploration) count(name string, n int) {
	if x.Laws == nil {
		x.Laws = map[string]campaign.Often{}
	}
	x.Laws[name] = campaign.Often{Failed: n, Of: x.Schedules}
}

// sayHowOften adds to each failure how often it occurs.
func (x *Exploration) sayHowOften() {
	for _, f := range x.Failures {
		if o, ok := x.Laws[f.Law]; ok {
			f.Often = &o
			f.Page.Small += "; in " + o.String()
		}
	}
}
