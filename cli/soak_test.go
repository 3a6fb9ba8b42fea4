package cli

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// The conforming generation keeps every law in every world of this project, under
// schedules with faults of all sorts. SOAK says how many schedules there are over
// all worlds; without it there is a sample.
func TestConformingGenerationKeepsTheLaws(t *testing.T) {
	files, err := walk("../scenarios/testdata")
	if err != nil {
		t.Fatal(err)
	}
	total := 20 * len(files)
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 1 {
		total = n
	}
	each := total/len(files) + 1
	faults := map[string]int{}
	for _, name := range host.FaultNames {
		faults[name] = 1
	}
	a := &app{registry: Builtin(), out: io.Discard, err: io.Discard}
	worlds, schedules := 0, 0
	for i, path := range files {
		f, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(f.Steps, changesGeneration) {
			continue // part of it is of an older one by intent
		}
		_ = a.regenerate(f, "controllerref") // of files without a controller that has generations it makes nothing
		x, err := scenarios.Explore(context.Background(), f, -1, a.registry, scenarios.ExploreOptions{
			Schedules: each, Seed: uint64(i), Faults: maps.Clone(faults), LawsOnly: true,
		})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		worlds, schedules = worlds+1, schedules+x.Schedules
		for _, failing := range x.Failures {
			t.Errorf("%s: %s: %s\n%s", path, failing.Law, failing.Text, failing.Page.Text())
		}
	}
	t.Logf("%d schedules of %d worlds", schedules, worlds)
}

func changesGeneration(s *scenarios.Step) bool {
	return s.Verb == "switch" || s.Verb == "downgrade-server"
}
