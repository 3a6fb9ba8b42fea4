package cli

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// The current era of all controllers keeps all laws in all worlds, under schedules with faults. SOAK is the number of
// schedules; the default is twenty for each world.
func TestConformingEraKeepsTheLaws(t *testing.T) {
	files := wholeWorlds(t)
	total := 20 * len(files)
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 1 {
		total = n
	}
	each := total/len(files) + 1
	faults := map[string]int{}
	for _, name := range host.FaultNames {
		faults[name] = 1
	}
	g := builtin.Registry()
	schedules := 0
	for i, f := range files {
		_ = regenerate(g, f, "current") // of files without a controller that has eras it makes nothing
		x, err := scenarios.Explore(context.Background(), f, -1, g, scenarios.ExploreOptions{
			Schedules: each, Seed: uint64(i), Faults: maps.Clone(faults), LawsOnly: true,
		})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		schedules += x.Schedules
		for _, failing := range x.Failures {
			t.Errorf("%s: %s: %s\n%s", f.Name, failing.Law, failing.Text, failing.Page.Text())
		}
	}
	t.Logf("%d schedules of %d worlds", schedules, len(files))
}

// wholeWorlds are the scenarios that can run in one era.
func wholeWorlds(t *testing.T) []*scenarios.File {
	paths, err := walk("../scenarios/testdata")
	if err != nil {
		t.Fatal(err)
	}
	var files []*scenarios.File
	for _, path := range paths {
		f, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(f.Steps, changesGeneration) { // part of it is of an older one by intent
			files = append(files, f)
		}
	}
	return files
}

func changesGeneration(s *scenarios.Step) bool {
	return s.Verb == "switch" || s.Verb == "downgrade-server"
}
