package cli

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// exploration is what explore prints with --json.
type exploration struct {
	File        string        `json:"file"`
	Strategy    string        `json:"strategy"`
	Seed        uint64        `json:"seed"`
	Generation  string        `json:"generation,omitempty"`
	Schedules   int           `json:"schedules"`
	Distinct    int           `json:"distinct"`
	Failed      int           `json:"failed"`
	Unsettled   int           `json:"unsettled"`
	States      int           `json:"states,omitempty"`
	Complete    bool          `json:"complete"` // exhaustive: covered everything; otherwise: not interrupted
	Stopped     string        `json:"stopped,omitempty"`
	Livelocks   int           `json:"livelocks,omitempty"` // exhaustive
	Livelock    string        `json:"livelock,omitempty"`
	NotVaried   []string      `json:"notVaried,omitempty"`
	Interrupted bool          `json:"interrupted,omitempty"`
	Outcomes    []outcome     `json:"outcomes"`
	Failures    []failureJSON `json:"failures,omitempty"`
	Seconds     float64       `json:"seconds"`
	ExitCode    int           `json:"exitCode"`

	elapsed  time.Duration
	coverage *explore.Coverage // exhaustive
}

type outcome struct {
	Count int    `json:"count"`
	Label string `json:"label"`
}

type failureJSON struct {
	*scenarios.Counterexample
	Written string `json:"written"` // the scenario file that replays it
}

// summarize adds up an exploration.
func (x *exploring) summarize(f *scenarios.File, found *scenarios.Exploration, interrupted bool, elapsed time.Duration) *exploration {
	rep := &exploration{File: f.Name, Strategy: x.Strategy, Seed: x.Seed, Generation: x.generation, elapsed: elapsed, Seconds: elapsed.Seconds(),
		Schedules: found.Schedules, Distinct: found.Distinct, Failed: found.Failed, Unsettled: found.Unsettled, Outcomes: []outcome{}}
	for _, o := range found.Outcomes {
		rep.Outcomes = append(rep.Outcomes, outcome{o.Count, o.Label})
	}
	if c := found.Coverage; c != nil {
		rep.States, rep.Complete, rep.Stopped = c.States, c.Complete, c.Stopped
		rep.Livelocks, rep.Livelock, rep.NotVaried, rep.coverage = c.Livelocks, c.Livelock, c.Fixed, c
		rep.Interrupted = interrupted && !c.Complete
	} else {
		rep.Interrupted = found.Report.Interrupted && interrupted
		rep.Complete = !rep.Interrupted
	}
	switch {
	case slices.ContainsFunc(found.Failures, func(f *scenarios.Counterexample) bool { return f.Law != law.ByID(law.ComeToRest).Name }):
		rep.ExitCode = scenarios.ExitFail
	case len(found.Failures) > 0 || rep.Unsettled > 0: // not to come to rest is all that went wrong
		rep.ExitCode = scenarios.ExitNotSettled
	case rep.Interrupted:
		rep.ExitCode = exitInterrupted
	}
	return rep
}

// text renders an exploration: the counts, the table of outcomes, the page of
// the first failure and of a fight, one line for each other law.
func (r *exploration) text(width int) string {
	var b strings.Builder
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
	}
	parts = append(parts, plural(r.Failed, "violation"), plural(len(r.Outcomes), "outcome"))
	if r.Unsettled > 0 {
		parts = append(parts, fmt.Sprintf("%d did not settle", r.Unsettled))
	}
	b.WriteString(head + strings.Join(append(parts, round(r.elapsed)), ", ") + "\n")
	if r.coverage != nil {
		b.WriteString(scenarios.NotVaried(r.coverage))
	}
	t := render.Table{Indent: "  "}
	for _, o := range r.Outcomes {
		t.Add(fmt.Sprintf("%6d", o.Count), o.Label)
	}
	b.WriteString(t.String())
	for i, f := range r.Failures {
		if i == 0 || fights(f.Counterexample) {
			b.WriteString("\n" + f.Page.Wide(width))
			continue
		}
		fmt.Fprintf(&b, "\n%s, first in schedule %d: %s\n    %s\n    %s\n", f.Law, f.Index, f.Text, f.Small, "replay: "+f.Page.Replay)
	}
	return b.String()
}

// failuresDir is where failures are written unless --out says otherwise. Its
// name hides it from run, and git is told to leave it out: what an exploration
// found is nobody's scenario until it is moved among them.
const failuresDir = ".threelaws"

// makeOut makes the directory that failures are written to.
func (x *exploring) makeOut() error {
	if err := os.MkdirAll(x.out, 0o755); err != nil || x.out != failuresDir {
		return err
	}
	return os.WriteFile(filepath.Join(x.out, ".gitignore"), []byte("*\n"), 0o644)
}

// write writes the file that replays a failure. Its name tells the scenario and
// the law, and its last four digits tell failures apart.
func (x *exploring) write(f *scenarios.File, failing *scenarios.Counterexample) (string, error) {
	if err := x.makeOut(); err != nil {
		return "", usage("--out: %v", err)
	}
	sum := fnv.New32a()
	sum.Write(failing.File)
	base := strings.TrimSuffix(filepath.Base(f.Name), extension)
	path := filepath.Join(x.out, fmt.Sprintf("%s-%s-%04x%s", base, failing.Law, sum.Sum32()&0xffff, extension))
	if err := failing.WriteFile(path); err != nil {
		return "", usage("--out: %v", err)
	}
	return path, nil
}
