package simtest

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// The flags of every test that uses [Check].
var (
	schedules  = flag.Int("threelaws.schedules", 0, "how many schedules each Check draws; 0: as the case says, or 1000")
	seed       = flag.Uint64("threelaws.seed", 0, "of the schedules that are drawn")
	exhaustive = flag.Bool("threelaws.exhaustive", false, "enumerate all schedules instead of drawing some")
	replay     = flag.String("threelaws.replay", "", "run this failure file only")
	budget     = flag.Duration("threelaws.time", 0,
		"how long each Check draws schedules, or each conformance.Test with all its cases; 0: as the case or the Subject says")
	minimize = flag.Duration("threelaws.minimize", 20*time.Second, "how long each failure is minimized")
	shard    = flag.String("threelaws.shard", "", "draw one part of the schedules: i/n, where i counts from 0")
	results  = flag.String("threelaws.results", "", "write results to this folder, for threelaws merge")
	keep     = flag.String("threelaws.failures", "testdata/threelaws",
		"the directory failures are written to, and replayed from")
)

// Check runs the case under many schedules, and checks each run against the laws and [Case.Settled]. Before that it
// replays earlier failures, each as a subtest. A new failure is minimized, printed as a page, and written to
// testdata/threelaws/NAME-OF-THE-TEST. The next test first replays this file. Commit the file together with the fix.
// Delete the file when it no longer fits the case. A page with the same name and the extension .html shows the run in a
// browser.
//
// A case also fails if it does not exercise a controller under test; see [Case.Unexercised]. Check logs what else was
// not exercised; see [Case.AlsoUnexercised].
//
// A failure is printed and written before it is minimized, so that it is not lost at a timeout of go test. Minimizing
// takes at most 20 seconds; -threelaws.minimize changes that.
//
// The flags -threelaws.schedules, .time, .seed and .exhaustive configure the exploration. -threelaws.replay only runs
// one file. -threelaws.failures sets the directory for failures. -threelaws.shard explores a part of the schedules, and
// -threelaws.results writes result files for "threelaws merge".
//
// With -threelaws.shard or -threelaws.results, the test is part of a campaign. Then failures in files are not replayed,
// and a case that exercises nothing does not fail.
//
// If two runs of a hosted program differ, Check runs the whole test again, built with the overlay of "threelaws test".
//
// Check returns the result of the exploration. If a failure in a file still occurs, Check explores nothing, and returns
// only the failures. With -threelaws.replay, and if the test ran again, it returns nil.
func Check(t *testing.T, c Case) *scenarios.Exploration {
	t.Helper()
	if _, err := c.File(t.Name()); err != nil {
		t.Fatal(err)
	}
	g := c.Registry()
	dir := failures(t)
	if *replay != "" {
		c.rerun(t, g, *replay, true)
		return nil
	}
	replays := &scenarios.Exploration{Stopped: "a kept failure still happens"}
	for _, path := range kept.Files(dir) {
		if divided() || replays == nil {
			break
		}
		t.Run("replay/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			told, again := c.rerun(t, g, path, false)
			switch {
			case again:
				replays = nil
			case told != nil:
				b := told.Violation
				replays.Failures = append(replays.Failures, &scenarios.Counterexample{Law: b.Law, Text: b.Text, Page: told})
			}
		})
	}
	if t.Failed() || replays == nil {
		return replays
	}
	return c.explore(t, dir)
}

func (c *Case) explore(t *testing.T, dir string) *scenarios.Exploration {
	t.Helper()
	if *budget > 0 {
		c.Time = *budget
	}
	raw := map[string]string{} // the files of failures that are not minimized, by law
	part, err := campaign.ParseShard(*shard)
	if err != nil {
		t.Fatalf("-threelaws.shard: %v", err)
	}
	x, err := c.exploreWith(t.Context(), t.Name(), scenarios.ExploreOptions{Patience: *minimize, Shard: part, Results: *results,
		World: t.Name(), Again: replayWith(t, ""), Accept: c.Accept, Raw: func(f *scenarios.Counterexample) {
			if path, err := kept.Keep(dir, f); err == nil { // if this fails, only the minimized failure is kept
				raw[f.Law] = path
				t.Logf("%s is violated: %s\nkept as %s, and minimized now", f.Law, f.Said(), path)
			}
		}})
	if err != nil {
		if c.overlaid(t, err) {
			return nil
		}
		t.Fatal(err)
	}
	found := len(x.Failures)
	x.Failures = slices.DeleteFunc(x.Failures, func(f *scenarios.Counterexample) bool {
		if f.Accepted != "" {
			t.Logf("accepted: %s: %s: %s", f.Law, f.Said(), f.Accepted)
			if f.Law == law.ByID(law.AlwaysSettles).Name {
				x.Unsettled = 0
			}
		}
		return f.Accepted != ""
	})
	for _, failing := range x.Failures {
		t.Run(failing.Law, func(t *testing.T) {
			if path, err := kept.Replace(raw[failing.Law], dir, failing); err != nil {
				t.Errorf("the file that replays it is not written: %v", err)
			} else {
				failing.Page.Replay = replayWith(t, path)
				if err := kept.Leave(path, failing.Page, failing.Found); err != nil {
					t.Logf("no page was written: %v", err)
				}
			}
			t.Errorf("first in schedule %d of %d, of which %d fail\n%s", failing.Index, x.Schedules, max(x.Failed, x.Unsettled),
				failing.Page.Text())
		})
	}
	if len(x.Failures) > 0 {
		return x
	}
	if x.Unsettled > 0 {
		t.Errorf("%d of %d schedules did not settle", x.Unsettled, x.Schedules)
	}
	if found > 0 {
		return x // Unexercised is only for explorations without violations
	}
	for _, why := range c.Unexercised(x) {
		if divided() { // another shard may exercise more
			t.Log(why)
		} else {
			t.Error(why)
		}
	}
	for _, what := range c.AlsoUnexercised(x) {
		t.Log("not exercised: " + what)
	}
	t.Log("\n" + x.Text())
	return x
}

// divided reports whether the test is one shard of a campaign. Then all shards must explore the same worlds, so the
// worlds must not depend on the results of earlier runs and cases.
func divided() bool { return *shard != "" || *results != "" }

func (c *Case) known(f *scenarios.Counterexample) string {
	if c.Accept == nil {
		return ""
	}
	return c.Accept(f)
}

func failures(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	if !strings.HasPrefix(name, "Fuzz") {
		name = strings.ReplaceAll(t.Name(), "/", "-")
	}
	return filepath.Join(*keep, name)
}

func replayWith(t *testing.T, path string) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return fmt.Sprintf("go test -run '^%s$' -threelaws.replay=%s", name, path)
}

// rerun replays the file of a failure, and returns the failure's page or nil. It fails the test if the failure occurs,
// or if the file cannot be run.
// Without anyLaw, a violation of another law than that of the file is no failure: see [kept.Replayed].
// Like Check, it may run the whole test again; then again is true.
func (c *Case) rerun(t *testing.T, g *scenarios.Registry, path string, anyLaw bool) (failure *render.Page, again bool) {
	t.Helper()
	var r *kept.Replayed
	if err := c.plain().Catch(func() { r = kept.Replay(g, path) }); err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Errors {
		if c.overlaid(t, e) {
			return nil, true
		}
	}
	if r.Page != nil {
		f := &scenarios.Counterexample{Law: r.Page.Violation.Law, Text: r.Page.Violation.Text, Page: r.Page}
		if reason := c.known(f); reason != "" {
			t.Logf("accepted: %s: %s: %s", f.Law, f.Said(), reason)
			return nil, false
		}
	}
	switch {
	case r.Other != "" && !anyLaw:
		t.Logf("%s does not fail any more. Its minimized world now violates %s, so the case is explored", path, r.Other)
		return nil, false
	case r.Page != nil:
		r.Page.Replay = replayWith(t, path)
		if err := kept.Leave(path, r.Page, nil); err != nil {
			t.Logf("no page was written: %v", err)
		}
		t.Error("\n" + r.Page.Text())
	case len(r.Errors) > 0:
		for _, e := range r.Errors {
			t.Error(e)
		}
	case r.Unfit:
		t.Logf("%s does not fit any more: the controllers act differently. A run without -threelaws.replay shows if "+
			"they still fail", path)
	default:
		t.Logf("%s does not fail any more", path)
	}
	return r.Page, false
}
