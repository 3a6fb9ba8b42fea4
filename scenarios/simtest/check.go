package simtest

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/render"
)

// The flags of every test that uses [Check].
var (
	schedules  = flag.Int("threelaws.schedules", 0, "how many schedules each Check draws; 0: as the case says, or 1000")
	seed       = flag.Uint64("threelaws.seed", 0, "of the schedules that are drawn")
	exhaustive = flag.Bool("threelaws.exhaustive", false, "enumerate all schedules instead of drawing some")
	replay     = flag.String("threelaws.replay", "", "run this failure file only")
	keep       = flag.String("threelaws.failures", "testdata/threelaws", "the directory failures are written to, and replayed from")
)

// Check runs the case under many schedules and holds each to the laws and to
// [Case.AtRest]. Failures that were written earlier are replayed first, each as a
// subtest; what is found is made small, printed as a page, and written to
// testdata/threelaws/NAME-OF-THE-TEST to be replayed first next time. Commit that
// file with the mend; delete it when the world it holds makes no sense any more.
//
// A case in which a controller under test writes nothing in any schedule fails:
// nothing was asked of it.
func Check(t *testing.T, c Case) {
	t.Helper()
	g := c.Registry()
	dir := filepath.Join(*keep, strings.ReplaceAll(t.Name(), "/", "-"))
	if *replay != "" {
		again(t, g, *replay)
		return
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*.txtar"))
	for _, path := range old {
		t.Run("replay/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { again(t, g, path) })
	}
	if t.Failed() {
		return
	}
	c.explore(t, dir)
}

// Explore draws or enumerates the case's schedules and says what they came to. It
// is what [Check] does, for whoever wants to judge the outcome himself. The error
// is a mistake in the case, or a run that is no function of its schedule.
func (c *Case) Explore(ctx context.Context, name string) (*scenarios.Exploration, error) {
	f, err := c.File(name)
	if err != nil {
		return nil, err
	}
	o := scenarios.ExploreOptions{Schedules: c.Schedules, Seed: *seed, Faults: c.Faults, Strict: c.Strict}
	if *schedules > 0 {
		o.Schedules = *schedules
	}
	if *exhaustive || c.Exhaustive && *schedules == 0 {
		o.Strategy = "exhaustive"
	}
	return scenarios.Explore(ctx, f, len(f.Steps), c.Registry(), o)
}

// explore reports what the case's schedules break.
func (c *Case) explore(t *testing.T, dir string) {
	t.Helper()
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, failing := range x.Failures {
		t.Run(failing.Law, func(t *testing.T) {
			path := c.write(t, dir, failing)
			failing.Page.Replay = fmt.Sprintf("go test -run '%s' -threelaws.replay=%s", strings.SplitN(t.Name(), "/", 2)[0], path)
			t.Error("\n" + failing.Page.Text())
		})
	}
	if len(x.Failures) > 0 {
		return
	}
	if x.Unsettled > 0 {
		t.Errorf("%d of %d schedules did not settle", x.Unsettled, x.Schedules)
	}
	if name := c.Idle(x); name != "" {
		t.Errorf("%s wrote nothing in any of %d schedules: the case asks nothing of it", name, x.Schedules)
	}
	t.Log("\n" + x.Text())
}

// Idle names a controller under test that wrote nothing in any schedule, "" for
// none: of such a one nothing was asked.
func (c *Case) Idle(x *scenarios.Exploration) string {
	for i := range c.Controllers {
		if name := c.Controllers[i].Name; !x.Wrote[name] {
			return name
		}
	}
	return ""
}

// write writes a failure down and returns where.
func (c *Case) write(t *testing.T, dir string, f *scenarios.Failing) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
	}
	sum := fnv.New32a()
	sum.Write(f.File)
	path := filepath.Join(dir, fmt.Sprintf("%s-%04x.txtar", f.Law, sum.Sum32()&0xffff))
	if err := scenarios.WriteFile(path, f.File); err != nil {
		t.Error(err)
	}
	return path
}

// again replays a failure file. It fails the test while the failure happens, and
// also when the file cannot be run.
func again(t *testing.T, g *scenarios.Registry, path string) {
	t.Helper()
	var page *render.Page
	res := scenarios.RunFile(path, scenarios.Options{Registry: g, Inspect: func(r *scenarios.Run) {
		for _, f := range r.Failures() {
			if page == nil {
				page = r.Page(&f)
			}
		}
	}})
	switch {
	case page != nil:
		page.Replay = fmt.Sprintf("go test -run '%s' -threelaws.replay=%s", strings.SplitN(t.Name(), "/", 2)[0], path)
		t.Error("\n" + page.Text())
	case res.ExitCode == scenarios.ExitUsage && !unfit(res):
		for _, e := range res.Errors {
			t.Error(e)
		}
	default:
		t.Logf("%s does not fail any more", path)
	}
}

// unfit reports whether the schedule no longer fits: the controllers take another
// course.
func unfit(res *scenarios.Result) bool {
	for _, e := range res.Errors {
		if !strings.Contains(e.Text, "the schedule does not fit the file") {
			return false
		}
	}
	return true
}
