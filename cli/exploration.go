package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// exploration is the JSON output of explore: the result, and the settings of the command line. Complete and Failures
// replace the result's fields Complete and Failures.
type exploration struct {
	*scenarios.Exploration
	File        string        `json:"file"`
	Strategy    string        `json:"strategy"`
	Seed        uint64        `json:"seed"`
	Era         string        `json:"era,omitempty"`
	States      int           `json:"states,omitempty"`
	Complete    bool          `json:"complete"` // the search was not stopped early; if exhaustive, it covered all schedules
	Stopped     string        `json:"stopped,omitempty"`
	Endless     bool          `json:"endless,omitempty"`   // all schedules ended unsettled or in a fight
	Livelocks   int           `json:"livelocks,omitempty"` // the number of livelocks that an exhaustive search found
	Livelock    string        `json:"livelock,omitempty"`
	NotVaried   []string      `json:"notVaried,omitempty"`
	Interrupted bool          `json:"interrupted,omitempty"`
	Shard       string        `json:"shard,omitempty"`
	Failures    []failureJSON `json:"failures,omitempty"`
	Seconds     float64       `json:"seconds"`
	ExitCode    int           `json:"exitCode"`

	elapsed time.Duration
}

// failureJSON is the first failure of a law.
type failureJSON struct {
	*scenarios.Counterexample
	Written string `json:"written"` // the scenario file that replays the failure; "" if it could not be written
}

func (f failureJSON) replay() string {
	if f.Written == "" {
		return "the file that replays it could not be written"
	}
	return "replay: " + f.Page.Replay
}

func newExploration(x *exploring, f *scenarios.File, found *scenarios.Exploration, interrupted bool) *exploration {
	rep := &exploration{Exploration: found, File: f.Name, Strategy: x.Strategy, Seed: x.Seed, Era: x.era, Shard: x.shard}
	fights := 0
	if c := found.Coverage; c != nil {
		rep.States, rep.Complete, rep.Stopped, fights = c.States, c.Complete, c.Stopped, c.Fights
		rep.Livelocks, rep.Livelock, rep.NotVaried = c.Livelocks, c.Livelock, c.Fixed
		rep.Interrupted = interrupted && !c.Complete
	} else {
		rep.Interrupted = found.Interrupted && interrupted
		rep.Complete, fights = !rep.Interrupted, found.Fights
		from, to := x.Part.Range(x.Schedules)
		if x.Full != nil && found.Schedules < to-from && !rep.Interrupted {
			rep.Complete, rep.Stopped = false, x.Full()
		}
	}
	bounded := x.States > 0 && rep.States >= x.States || x.Full != nil && x.Full() != ""
	rep.Endless = found.Failed == 0 && found.Schedules <= found.Unsettled+fights && !rep.Interrupted && !bounded &&
		x.Part.N <= 1
	rep.ExitCode = rep.code(found.Failures)
	return rep
}

// code returns the exit code. It is 0 only if no law is violated, all schedules settled, and the search is complete.
func (r *exploration) code(failures []*scenarios.Counterexample) int {
	broken := func(f *scenarios.Counterexample) bool { return f.Law != law.ByID(law.AlwaysSettles).Name }
	switch {
	case slices.ContainsFunc(failures, broken):
		return scenarios.ExitFail
	case len(failures) > 0 || r.Unsettled > 0 || r.Endless: // some worlds did not settle, and there is no other failure
		return scenarios.ExitNotSettled
	case r.Interrupted:
		return exitInterrupted
	case !r.Complete:
		return exitUncovered
	}
	return scenarios.ExitPass
}

func (r *exploration) head() string {
	parts := []string{plural(r.Schedules, "schedule"), fmt.Sprintf("%d distinct", r.Distinct)}
	head := ""
	if r.Strategy == "exhaustive" {
		head = "covered everything: "
		if !r.Complete {
			head = "not everything was covered (" + r.Stopped + "): "
		}
		parts = []string{plural(r.States, "state"), plural(r.Schedules, "schedule")}
	} else if r.Interrupted {
		head = "interrupted: "
	} else if r.Stopped != "" {
		head = "stopped (" + r.Stopped + "): "
	}
	if r.Shard != "" {
		head = "shard " + r.Shard + ": " + head
	}
	parts = append(parts, plural(r.Failed, "violation"), plural(len(r.Outcomes), "outcome"))
	if r.Unsettled > 0 {
		parts = append(parts, fmt.Sprintf("%d did not settle", r.Unsettled))
	}
	return head + strings.Join(append(parts, round(r.elapsed)), ", ") + "\n"
}

// text formats an exploration: the numbers, the table of outcomes, the pages of the first failure and of each fight,
// and three lines for each other violated law.
func (r *exploration) text(width int) string {
	var b strings.Builder
	b.WriteString(r.head())
	if r.ExitCode == exitUncovered {
		b.WriteString("no law is violated in the covered part; nothing is known about the rest\n")
	}
	if r.Endless {
		b.WriteString("no schedule came to its end: nothing is known about settled worlds\n")
	}
	if r.Coverage != nil {
		for _, line := range r.Coverage.NotVaried() {
			b.WriteString(render.Fold(line))
		}
	}
	t := render.Table{Indent: "  ", Width: width}
	for _, o := range r.Outcomes {
		t.Add(fmt.Sprintf("%6d", o.Count), o.Label)
	}
	b.WriteString(t.String())
	for i, f := range r.Failures {
		if i == 0 || fights(f.Counterexample) {
			b.WriteString("\n" + f.Page.Wide(width))
			continue
		}
		fmt.Fprintf(&b, "\n%s, first in schedule %d: %s\n    %s\n    %s\n", f.Law, f.Index, f.Text, f.Page.Small,
			f.replay())
	}
	return b.String()
}

func fights(f *scenarios.Counterexample) bool { return len(f.Page.Violation.Cycle) > 0 }
