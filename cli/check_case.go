package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/law"
)

// sampleTried is the result for a sample, as check prints it with --json.
type sampleTried struct {
	Sample string      `json:"sample"` // the path of the sample's file
	Kind   string      `json:"kind"`
	Notes  []string    `json:"notes,omitempty"` // which installed objects and settings were ignored, and why
	Shown  string      `json:"shown"`           // what the operator creates, owns and adopts in runs without faults
	Cases  []caseJSON  `json:"cases"`
	Laws   []lawResult `json:"laws"`
	Text   string      `json:"summary"`
	Short  []string    `json:"short,omitempty"` // the cases that were cut short or left out because there was no time

	began time.Time
	plan  *check.Plan
	short string // why the sample could not be explored, in one line
	dir   string // the directory for failure files
	tried []check.Tried
	// For each line of code that panicked: the name of the first case with this panic. Later cases refer to this case.
	panics map[string]string
}

type caseJSON struct {
	Name      string        `json:"name"`
	Skipped   string        `json:"skipped,omitempty"` // why the case cannot test this operator
	LeftOut   bool          `json:"leftOut,omitempty"` // there was no time for the case
	slow      bool          // even one schedule takes too much time
	late      string        // the fact that there was no time to find out
	Cut       bool          `json:"cut,omitempty"` // the time ended after fewer than 5 schedules
	Schedules int           `json:"schedules"`
	Distinct  int           `json:"distinct"`
	Failed    int           `json:"failed"`
	Unsettled int           `json:"unsettled"`
	Failures  []failureJSON `json:"failures,omitempty"`
	Uncovered []string      `json:"uncovered,omitempty"` // parts of the case that no schedule exercised
	Accepted  []string      `json:"accepted,omitempty"`  // accepted violations: the law and the reason
	Errors    []string      `json:"errors,omitempty"`
	Seconds   float64       `json:"seconds"`
	ExitCode  int           `json:"exitCode"`

	took  time.Duration
	pages string
	known []check.Known
}

func (s *sampleTried) label(name string) string { return strings.ToLower(s.Kind) + "/" + name }

func (s *sampleTried) home(name string) string {
	return filepath.Join(s.dir, strings.ToLower(s.Kind)+"-"+strings.ReplaceAll(name, "/", "-"))
}

func (c *checking) chosen(plan *check.Plan) (cases []*check.DerivedCase) {
	for i := range plan.Cases {
		if len(c.cases) == 0 || slices.Contains(c.cases, plan.Cases[i].Name) {
			cases = append(cases, &plan.Cases[i])
		}
	}
	return cases
}

func aCase(name string) error {
	if slices.Contains(check.Names, name) {
		return nil
	}
	near := ""
	if n := nearest.Word(name, check.Names); n != "" {
		near = "; did you mean " + n + "?"
	}
	return usage("--case: there is no case %s%s; there are %s", name, near, strings.Join(check.Names, ", "))
}

// tryCase explores a case and prints the result. cases is the number of cases that share the remaining time.
func (c *checking) tryCase(ctx context.Context, s *sampleTried, one *check.DerivedCase, cases int) error {
	j := caseJSON{Name: one.Name, Skipped: one.Skip}
	if s.plan.Unsettled != "" && len(s.Cases) > 0 && one.Skip == "" {
		j.Skipped = s.plan.Unsettled
	}
	tried := check.Tried{Name: one.Name}
	if one.Late {
		j.LeftOut, j.ExitCode, j.late, j.Skipped = true, exitUncovered, one.Skip, ""
	} else if j.Skipped == "" && ctx.Err() == nil && len(s.tried) > 0 && c.late() {
		j.LeftOut, j.ExitCode = true, exitUncovered
	} else if j.Skipped == "" && ctx.Err() == nil {
		began := time.Now()
		before := s.tried
		if c.divided() { // all shards must explore the same worlds, so results of earlier runs have no influence
			before = nil
		}
		world := one.World(before)
		if c.set {
			world.Faults = c.Faults
		}
		if !c.divided() {
			tried.X = c.stillFails(s, &j, world)
		}
		if tried.X == nil {
			tried.X = c.explore(ctx, s, &j, world, cases)
		}
		tried.Known = j.known
		j.took = time.Since(began)
		j.Seconds = j.took.Seconds()
	}
	s.tried, s.Cases = append(s.tried, tried), append(s.Cases, j)
	c.code = worse(c.code, j.ExitCode)
	if ctx.Err() != nil && tried.X == nil {
		c.code = worse(c.code, exitInterrupted)
		return nil
	}
	if j.Skipped == "" && (!j.LeftOut || j.slow) { // judge lists the others
		c.say("%s\n", j.line())
	}
	for _, text := range j.Errors {
		fmt.Fprintln(c.err, text)
	}
	if j.pages != "" {
		c.say("\n%s", j.pages)
	}
	c.line(c.caseLine(s, &j))
	return c.add(c.app, c.caseChecked(s, &j))
}

func (c *checking) explore(ctx context.Context, s *sampleTried, j *caseJSON, world *casefile.Case,
	cases int) *scenarios.Exploration {
	home := s.home(j.Name)
	o := scenarios.ExploreOptions{Schedules: c.Schedules, Seed: c.Seed, Workers: c.Workers, Budget: c.Budget,
		Patience: c.Time / minimizing, Steps: mostSteps, Twice: c.twice, Out: home, Shard: c.Part,
		Results: c.results, World: s.label(j.Name), SaveEvery: saveEvery, Again: c.again(s.Sample, "")}
	if c.results != "" {
		o.Out = "" // results are merged on other machines, where the paths of files differ
	}
	if s.plan.Unsettled != "" {
		o.Steps = mostUnsettled
	}
	outer := ctx
	if c.timed() {
		o.Patience = max(time.Until(c.left)/minimizing, time.Second)
		until := c.share(c.left, cases)
		if o.Schedules == 0 {
			o.Schedules = mostDrawn
		}
		o.Enough = func(drawn int) bool { return drawn > 0 && time.Now().After(until) }
		within, stop := context.WithDeadline(ctx, c.latest(s, until))
		defer stop()
		ctx, outer = within, ctx
	}
	line := c.progress()
	defer line.clear()
	line.show("%s", j.Name)
	raw := map[string]string{} // for each law: the file with a failure that is not minimized yet
	o.Accept = func(f *scenarios.Counterexample) string {
		if a := acceptedAs(c.Accept, j.Name, f); a != nil {
			return a.Reason
		}
		return ""
	}
	o.Raw = func(f *scenarios.Counterexample) {
		path, err := kept.Keep(home, f)
		if err != nil {
			return // the failure is reported later, when it is minimized
		}
		raw[f.Law] = path
		line.clear()
		said, _, _ := strings.Cut(f.Said(), "; the last lines that it printed:") // these follow in the timeline
		c.say("  %-22s violated: %s: %s\n%25skept as %s, and minimized now\n", j.Name, f.Law, said, "", path)
		line.show("%s: minimizing %s", j.Name, f.Law)
	}
	if c.verbose {
		c.say("  %-22s begins\n", j.Name)
	}
	told := time.Now()
	o.Progress = func(p explore.Progress) {
		if c.verbose && time.Since(told) >= 10*time.Second {
			told = time.Now()
			c.say("  %-22s %s, %s, %.1f/s\n", j.Name, plural(p.Runs, "schedule"), plural(p.Failed, "violation"), p.PerSecond)
		}
		line.show("%s: %s, %.0f/s, %d distinct, %s", j.Name, plural(p.Runs, "schedule"), p.PerSecond, p.Distinct,
			plural(p.Failed, "violation"))
	}
	x, err := world.Explore(ctx, filepath.Join(home, "case"), o)
	if differ := (*explore.Disagreement)(nil); c.fresh != nil && errors.As(err, &differ) {
		c.fresh()
		c.fresh = nil
		line.clear()
		c.note(j.Name + ": two runs of one schedule differ in a reused process: from here on each start of the " +
			"operator gets a new process")
		return c.explore(outer, s, j, world, cases)
	}
	if err != nil {
		var e *scenarios.Error
		if errors.As(err, &e) {
			j.fail(err.Error(), e.Code)
		} else {
			j.fail(fmt.Sprintf("%s: %v", j.Name, err), scenarios.ExitNondetermine)
		}
		return nil
	}
	line.clear()
	c.accept(j, x)
	j.Schedules, j.Distinct, j.Failed, j.Unsettled = x.Schedules, x.Distinct, x.Failed, x.Unsettled
	j.Cut = c.timed() && x.Schedules < min(fewest, o.Schedules) && x.Unsettled == 0
	for _, f := range x.Failures {
		path, err := kept.Replace(raw[f.Law], home, f)
		if err != nil { // the violation is printed even if the file cannot be written
			j.Errors = append(j.Errors, fmt.Sprintf("%s: cannot keep the failure: %v", j.Name, err))
		}
		c.tell(s, j, f, path)
	}
	interrupted := x.Interrupted
	if interrupted && outer.Err() == nil && x.Schedules == 0 { // the time ended during the first schedule
		j.LeftOut, j.slow, j.Cut, j.ExitCode = true, true, false, exitUncovered
		return nil
	}
	interrupted = interrupted && outer.Err() != nil
	if len(x.Failures)+len(j.known) == 0 && x.Unsettled == 0 && !interrupted && !c.divided() {
		for _, what := range world.Unexercised(x) {
			j.Uncovered = append(j.Uncovered, userAction.ReplaceAllLiteralString(what, "the user's action "))
		}
	}
	switch {
	case x.Unsettled > 0:
		j.ExitCode = worse(j.ExitCode, scenarios.ExitNotSettled)
	case interrupted && len(x.Failures) == 0:
		j.ExitCode = worse(j.ExitCode, exitInterrupted)
	case len(j.Uncovered) > 0:
		j.ExitCode = worse(j.ExitCode, exitUncovered)
	}
	return x
}

// userAction matches the place of a user action in the Go value of a case. Users of check have not written that value.
var userAction = regexp.MustCompile(`^User\[\d+\]: `)

// accept moves accepted violations from an exploration to the result of the case.
func (c *checking) accept(j *caseJSON, x *scenarios.Exploration) {
	x.Failures = slices.DeleteFunc(x.Failures, func(f *scenarios.Counterexample) bool {
		if f.Accepted == "" {
			return false
		}
		j.Accepted = append(j.Accepted, f.Law+": "+f.Accepted)
		j.known = append(j.known, check.Known{Law: f.Law, Reason: f.Accepted})
		if f.Law == law.ByID(law.AlwaysSettles).Name {
			x.Unsettled = 0
		}
		return true
	})
	if len(x.Failures) == 0 && len(j.Accepted) > 0 {
		x.Failed = 0
	}
}

// A run may have mostSteps steps, plus three times the steps of the default schedule. A longer run counts as not
// settling. A polling program needs thousands of steps, because it settles only after an hour. A program that did not
// settle without faults gets mostUnsettled instead of mostSteps, because each step of a program is slow.
const (
	mostSteps     = 30_000
	mostUnsettled = 5_000
)

// Minimizing a violation may take an eighth of the remaining time. With --schedules, it may take an eighth of --time.
const minimizing = 8

// leastForOne is the shortest time for which a running schedule may continue when its case is out of time.
const leastForOne = 10 * time.Second

// latest returns the time at which a running schedule is interrupted. until is the end of its case. A schedule may use
// the time of later cases. The first schedule of a sample may also take as long as --time, so that there is a result.
func (c *checking) latest(s *sampleTried, until time.Time) time.Time {
	last := until.Add(leastForOne)
	if c.left.After(last) {
		last = c.left
	}
	if first := until.Add(max(c.Time, leastForSample)); first.After(last) && !slices.ContainsFunc(s.Cases, func(j caseJSON) bool { return j.Schedules > 0 }) {
		last = first
	}
	return last
}

const mostDrawn = 100_000

func (j *caseJSON) noTime() string {
	if j.late != "" {
		return j.late
	}
	if j.slow {
		return fmt.Sprintf("one schedule takes longer than %s: try a larger --time", round(j.took))
	}
	return "no time is left"
}

func (j *caseJSON) fail(text string, code int) {
	j.Errors, j.ExitCode = append(j.Errors, text), worse(j.ExitCode, code)
}

func (j *caseJSON) line() string {
	var laws []string
	for _, f := range j.Failures {
		law := f.Law
		if j.Schedules > 0 {
			law += fmt.Sprintf(" (first in schedule %d)", f.Index)
		}
		laws = append(laws, law)
	}
	what := plural(j.Schedules, "schedule")
	switch {
	case j.Skipped != "":
		what = "skipped: " + j.Skipped
	case j.LeftOut:
		return fmt.Sprintf("  %-22s left out: %s", j.Name, j.noTime())
	case len(laws) > 0 && j.Schedules == 0:
		what = "a failure that an earlier check kept still happens: " + strings.Join(laws, ", ")
	case len(laws) > 0:
		what += fmt.Sprintf(", violated in %d: %s", max(j.Failed, 1), strings.Join(laws, ", "))
	case j.ExitCode == scenarios.ExitNondetermine:
		what = "two runs of one schedule differ"
	case len(j.Errors) > 0 && j.Schedules == 0:
		what = "not explored"
	case j.Unsettled > 0:
		what += fmt.Sprintf(", %d did not settle", j.Unsettled)
	case len(j.Uncovered) > 0:
		what += ", not covered: " + strings.Join(j.Uncovered, "; ")
	}
	if len(j.Accepted) > 0 {
		what += ", accepted: " + strings.Join(j.Accepted, "; ")
	}
	if j.Skipped == "" {
		what += ", " + round(j.took)
	}
	return fmt.Sprintf("  %-22s %s", j.Name, what)
}
