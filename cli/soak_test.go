package cli

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// The current era of all controllers keeps all laws in all scenarios, under schedules with faults. SOAK is the number
// of schedules, by default ten for each scenario. SOAKTIME gives the scenarios a common time limit instead. SOAKSHARD
// and SOAKRESULTS make the test one shard of a campaign.
func TestConformingEraKeepsTheLaws(t *testing.T) {
	files := wholeWorlds(t)
	total := 10 * len(files)
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 1 {
		total = n
	}
	each := total/len(files) + 1
	until := time.Time{}
	if d, err := time.ParseDuration(os.Getenv("SOAKTIME")); err == nil {
		until, each = time.Now().Add(d), 10_000_000
	}
	part, err := campaign.ParseShard(os.Getenv("SOAKSHARD"))
	must(t, err)
	faults := map[string]int{}
	for _, name := range host.FaultNames {
		faults[name] = 1
	}
	g := builtin.Registry()
	schedules := 0
	for i, f := range files {
		_ = inEra(g, f, "current") // it ignores files in which no controller has eras
		o := scenarios.ExploreOptions{Schedules: each, Seed: uint64(i), Faults: maps.Clone(faults), LawsOnly: true, Shard: part,
			Results: os.Getenv("SOAKRESULTS"), World: strings.TrimPrefix(f.Name, "../scenarios/testdata/")}
		if !until.IsZero() {
			end := time.Now().Add(time.Until(until) / time.Duration(len(files)-i))
			o.Enough = func(drawn int) bool { return drawn > 0 && time.Now().After(end) }
		}
		x, err := scenarios.Explore(context.Background(), f, -1, g, o)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		schedules += x.Schedules
		if !until.IsZero() {
			t.Logf("%s: %d schedules, %d distinct, %d violations", o.World, x.Schedules, x.Distinct, x.Failed)
		}
		for _, failing := range x.Failures {
			t.Errorf("%s: %s: %s\n%s", f.Name, failing.Law, failing.Text, failing.Page.Text())
		}
	}
	t.Logf("%d schedules of %d worlds", schedules, len(files))
}

// wholeWorlds returns the scenarios in which all controllers can run in one era.
func wholeWorlds(t *testing.T) []*scenarios.File {
	paths, err := walk("../scenarios/testdata")
	must(t, err)
	var files []*scenarios.File
	for _, path := range paths {
		f, err := scenarios.Load(path)
		must(t, err)
		if !slices.ContainsFunc(f.Steps, changesEra) { // such a scenario runs an older era on purpose
			files = append(files, f)
		}
	}
	return files
}

func changesEra(s *scenarios.Step) bool {
	return s.Verb == "switch" || s.Verb == "downgrade-server"
}
