package hosted_test

import (
	"context"
	"flag"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/upstream/hosted"
)

var schedules = flag.Int("schedules", 5, "how many of each world")
var only = flag.String("only", "", "")

func TestSilence(t *testing.T) {
	g := cli.Builtin()
	g.Controllers = append(g.Controllers, hosted.Controllers()...)
	g.Managed = nil
	lib := scenarios.Library()
	began := time.Now()
	worlds, all, steps := 0, 0, 0
	err := fs.WalkDir(lib, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txtar") || !strings.Contains(path, *only) {
			return err
		}
		raw, _ := fs.ReadFile(lib, path)
		f, err := scenarios.Parse(path, raw)
		if err != nil {
			return nil
		}
		text := string(raw)
		if strings.Contains(text, "@") || strings.Contains(text, "\nmanagers") || strings.Contains(text, "upgrade") {
			return nil
		}
		until := slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return strings.HasPrefix(s.String(), "explore") })
		if until < 0 || strings.HasPrefix(f.Steps[until].String(), "!") {
			return nil
		}
		x, err := scenarios.Explore(context.Background(), f, until, g, scenarios.ExploreOptions{Schedules: *schedules})
		if err != nil {
			t.Logf("%s: ERR %.300s", path, err)
			return nil
		}
		worlds++
		all += x.Schedules
		for _, c := range x.Failures {
			t.Logf("%s: %s: %.3000s", path, c.Law, c.Page.Text())
		}
		if x.Unsettled > 0 {
			t.Logf("%s: %d unsettled", path, x.Unsettled)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d worlds, %d schedules, %d steps, %v", worlds, all, steps, time.Since(began))
}
