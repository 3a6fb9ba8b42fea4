package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

func checkCommand(a *app) *cobra.Command {
	c := &checking{app: a, checks: checks{annotate: a.annotate}, listed: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "check [flags] [PACKAGE]",
		Short: "test an operator in its own repository against the laws of ownership",
		Long: `Builds the main package of an operator unchanged, installs the operator in simulated
clusters, and checks the laws of ownership. Run it in the operator's repository.

PACKAGE is the main package. By default it comes from PROJECT, the Dockerfile, ./cmd, or
the working directory. check also finds CRDs, samples and install manifests. It prints
where it found each of them. Use the flags to name others.

check first observes the operator in clusters without faults. From these observations it
derives the cases, for example a second owner, an orphan, or a sample that is deleted
and recreated. Each case runs under many schedules, with crashes, conflicts and lost
responses. All samples and cases share the time of --time. The summary names the cases
that were shortened or left out.

check minimizes a violation, prints it, and writes a failure file to testdata/threelaws
of the repository. The next check replays this file first. Without a violation, check
writes no files. You can also write the flags into the file threelaws.yaml.`,
		Example: `  threelaws check
  threelaws check ./cmd/manager --time 10m
  threelaws check --install config/default --sample config/samples/widget.yaml
  threelaws check --args "--leader-elect=false" --env NAMESPACE=default
  threelaws check --replay testdata/threelaws/widget-orphan/exact-sum-01ab.txtar`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("check takes one package, not %d", len(args))
			}
			if len(args) > 0 {
				c.Package, c.packaged = args[0], true
			}
			return c.run(cmd)
		},
	}
	c.register(cmd)
	return cmd
}

type checking struct {
	*app
	settings
	checks
	sharding

	output  string
	lines   bool // print each result as a JSON line as soon as it is known
	samples int
	replay  string
	selects string   // the flags that a replay needs too, with a space before each: see selecting
	twice   int      // one in this many runs is executed twice
	cases   []string // the names of the cases to run; nil means all
	verbose bool
	idle    map[string]string // reason why the operator did nothing -> the first sample with this reason
	fresh   func()            // makes each later start of the operator use a new process; nil if no process is reused

	report checkReport
	last   time.Time         // the time of the last output
	listed map[string]string // state of laws -> the list that was printed for the last sample
	began  time.Time
	left   time.Time // the deadline for exploring the cases of the current sample

	glimpses map[*check.File]glimpse
	flexible bool                        // --time is not given
	replaced map[string]bool             // the names of samples that are tried instead of the first of their kind
	denied   map[schema.GroupKind]string // kind -> why a webhook of the operator denied the last sample of this kind
}

func (c *checking) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if err := c.settle(cmd); err != nil {
		return err
	}
	c.line(checkLine{Protocol: checkProtocol})
	c.last = time.Now()
	line := c.progress()
	line.show("looking for the operator, with go list: modules that are missing are downloaded")
	op, err := c.operators(ctx, &c.settings)
	line.clear()
	if err != nil {
		return err
	}
	for _, note := range op.Notes {
		c.note(note)
	}
	c.report.Notes = append(c.report.Notes, op.Notes...)
	if len(op.Samples) == 0 {
		return usage("check: %s", op.noSample())
	}
	if err := c.with(op); err != nil {
		return err
	}
	c.say("builds %s\n", op.Builds)
	line.show("building %s", op.Builds)
	if op.Close != nil {
		defer op.Close()
	}
	found := len(op.Notes)
	hosted, err := op.Host(ctx)
	line.clear()
	for _, note := range op.Notes[found:] { // of the build
		c.note(note)
		c.report.Notes = append(c.report.Notes, note)
	}
	if ctx.Err() != nil {
		fmt.Fprintf(c.err, "%s: interrupted while it built %s\n", c.name, op.Builds)
		c.code = exitInterrupted
		return nil
	}
	if err != nil {
		return err
	}
	if c.replay != "" {
		op.Others = slices.Concat(op.Samples, op.Others)
		op.Samples = slices.DeleteFunc(op.Samples, func(f *check.File) bool { return !c.replays(f) })
	}
	c.began, c.samples, c.denied = time.Now(), len(op.Samples), map[schema.GroupKind]string{}
	c.replaced = map[string]bool{}
	c.glance(ctx, op, hosted)
	for i, sample := range op.Samples {
		if ctx.Err() != nil {
			c.code = worse(c.code, exitInterrupted)
			break
		}
		parts, reserve := c.waiting(op.Samples[i:])
		c.left = c.shareOfSample(c.began.Add(c.Time-reserve), parts)
		if i > 0 && c.late() && c.glimpses[sample].err == nil {
			c.leaveOut(op.Samples[i:])
			break
		}
		if err := c.try(ctx, op, hosted, sample); err != nil {
			return err
		}
	}
	if c.replay != "" && c.report.Samples == nil {
		return usage("--replay %s: no case of this operator is kept in a directory %s", c.replay,
			filepath.Base(filepath.Dir(c.replay)))
	}
	if op.Waits != nil {
		for _, wait := range op.Waits() {
			note := "after it has settled, " + wait
			c.note(note)
			c.report.Notes = append(c.report.Notes, note)
		}
	}
	c.unmet()
	return c.finish()
}

// replays reports whether the directory of the file in --replay is named for the kind of an object in a sample's file.
func (c *checking) replays(sample *check.File) bool {
	dir := filepath.Base(filepath.Dir(c.replay))
	return slices.ContainsFunc(sample.Objects, func(o check.Object) bool {
		return strings.HasPrefix(dir, strings.ToLower(o.GetKind())+"-")
	})
}

// unmet adds a note for each accepted violation that did not occur. If some case was not explored, it adds none.
func (c *checking) unmet() {
	short := func(s *sampleTried) bool { return s.plan == nil || len(s.Short) > 0 }
	if c.divided() || len(c.cases) > 0 || c.replay != "" || c.code == exitInterrupted || slices.ContainsFunc(c.report.Samples, short) {
		return
	}
	for _, a := range c.Accept {
		if !a.met {
			note := fmt.Sprintf("%s: no violation of %s matched this entry: remove it if it is fixed", a.from(), a.Law)
			c.note(note)
			c.report.Notes = append(c.report.Notes, note)
		}
	}
}

func (c *checking) with(op *operator) error {
	for _, path := range c.With {
		data, err := os.ReadFile(path)
		if err != nil {
			return missing(path, err, nil)
		}
		f, err := check.Read(path, data)
		if err != nil {
			return usage("--with: %v", err)
		}
		for _, o := range f.Objects {
			op.Installed = append(op.Installed, o.Unstructured)
		}
	}
	return nil
}

// silence is the time without output after which check prints a progress message, if its output is no terminal.
const silence = 30 * time.Second

func (c *checking) progress() *progressLine {
	line := c.app.progress()
	if !c.live {
		line.say = func(text string) {
			if time.Since(c.last) >= silence {
				c.say("%s\n", text)
			}
		}
	}
	return line
}

func (c *checking) say(format string, args ...any) {
	c.last = time.Now()
	if !c.json {
		c.printf(format, args...)
	}
}

func (c *checking) note(text string) {
	c.say("%s\n", text)
	c.line(checkLine{Note: text})
}

func (c *checking) try(ctx context.Context, op *operator, hosted func(host.Controller) host.Controller,
	sample *check.File) error {
	if err := c.glimpses[sample].err; err != nil && ctx.Err() == nil {
		return c.unprepared(op, sample, err)
	}
	if len(op.Samples) > 1 {
		c.say("\n=== %s\n", sample.Name)
	}
	began := time.Now()
	if c.fresh != nil {
		op.Reuse(nil)
		c.fresh = nil
	}
	allowed := c.left.Sub(began)
	line := c.progress()
	c.last = time.Time{} // the first message is always printed
	line.show("watching the operator in quiet runs: %s", sample.Name)
	runs := 0
	var settled scenarios.Func
	if c.Settled != "" {
		settled = settledBy(c.Settled)
	}
	ends := false
	once := func() (*check.Plan, error) {
		given := c.operator(op, hosted, sample)
		given.Settled = settled
		given.Tell = func(fact string) {
			runs++
			line.show("quiet run %d of %s: %s", runs, sample.Name, fact)
		}
		given.Hurry = func() bool { // a replay needs all facts with which the failure was found
			return c.timed() && c.replay == "" && time.Since(began) > allowed/2
		}
		given.Lacking = func(idle *check.Idle, created bool) bool { return op.lacks(idle, created, sample) }
		given.Ends = ends
		return check.Prepare(ctx, given)
	}
	plan, err := c.prepare(op, sample, line, once)
	if endsIt(err) { // nothing that can be added prevents it
		ends = true
		plan, err = once()
	}
	line.clear()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(c.err, "%s: interrupted in the quiet runs of %s\n", c.name, sample.Name)
		c.code = worse(c.code, exitInterrupted)
		return nil
	case err != nil:
		if next := c.next(op, sample, err); next != nil {
			return c.try(ctx, op, hosted, next)
		}
		return c.unprepared(op, sample, err)
	}
	if half := time.Now().Add(allowed / 2); half.After(c.left) {
		c.left = half // if even the first quiet runs were slow, the cases still get half of the time
	}
	s := &sampleTried{Sample: sample.Name, Kind: plan.Controller.For.Kind, Notes: plan.Notes, plan: plan, began: began,
		panics: map[string]string{}, dir: filepath.Join(op.Dir, "testdata", "threelaws")}
	for _, note := range plan.Notes {
		c.note(note)
	}
	if op.Reuse != nil && plan.Unsettled == "" {
		if why := op.Reuse(plan.Rehearse()); why != "" {
			c.note("each start of the operator gets a new process: " + why)
		} else {
			c.fresh = func() {
				op.Reuse(nil)
				op.Reuse = nil
			}
		}
	}
	if c.replay != "" {
		return c.replayKept(s)
	}
	s.Shown = plan.String()
	c.say("\n%s\n", s.Shown)
	c.report.Samples = append(c.report.Samples, s)
	if least := time.Now().Add(leastForSample); !plan.HasDependents() && c.othersWait(op, sample) && least.Before(c.left) {
		c.left = least // other samples need the time more
	}
	cases := c.chosen(plan)
	for i, one := range cases {
		if err := c.tryCase(ctx, s, one, len(cases)-i); err != nil {
			return err
		}
	}
	return c.judge(s)
}
