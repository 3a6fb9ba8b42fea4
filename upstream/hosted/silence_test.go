package hosted_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/scenarios"
)

var (
	only      = flag.String("only", "", "the worlds whose names contain this")
	schedules = flag.Int("schedules", 2, "how many schedules of each world; SOAK says how many of all")
)

// enough is how many schedules of a world find each row of the table.
const enough = 300

// In worlds in which this module's controllers keep the laws, upstream's break those that the table lists and no
// others. An ordinary run explores every sixth world. With SOAK it explores all of them, and every row of the table
// must be found once each world has enough schedules.
func TestUpstreamIsAccusedOfNothingElse(t *testing.T) {
	all, left := worlds(t)
	each := max(*schedules, soak()/len(all))
	all = sample(all, 0)
	g, began, total, found := inTheirPlace(), time.Now(), 0, map[accusation]bool{}
	for _, w := range all {
		if !strings.Contains(w.name, *only) {
			continue
		}
		o, at := w.options(t), time.Now()
		o.Schedules, o.Budget, o.Steps = each, 1, 5000
		x, err := scenarios.Explore(t.Context(), w.file, w.until, g, o)
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		if total += x.Schedules; x.Ended == 0 {
			t.Errorf("%s: no schedule came to its end: nothing was asked of it", w.name)
		}
		if took := time.Since(at); took > 5*time.Second {
			t.Logf("%s took %v", w.name, took)
		}
		for _, a := range accusations(w.name, x) {
			if found[a] = true; findings[a] == "" {
				t.Errorf("%s is broken in %s%s", a.law, a.world, w.shortest(t, g, o, a.law))
			}
		}
	}
	for a := range findings {
		if strings.Contains(a.world, *only) && each >= enough && !found[a] {
			t.Errorf("the table says that %s is broken in %s: it is not", a.law, a.world)
		}
	}
	t.Logf("%d schedules of %d worlds, %d accusations, in %v; other worlds: %v", total, len(all), len(found),
		time.Since(began).Round(time.Second), left)
}

// soak is how many schedules a long run has; 0 for an ordinary one.
func soak() int {
	n, _ := strconv.Atoi(os.Getenv("SOAK"))
	return n
}

// sample is every sixth of the worlds, from one on; all of them in a long run, or where
// some are asked for by name.
func sample(all []world, from int) []world {
	if long() || *only != "" {
		return all
	}
	var some []world
	for i := from; i < len(all); i += 6 {
		some = append(some, all[i])
	}
	return some
}

func long() bool { return soak() > 0 }

// accusations are the laws that were broken in an exploration.
func accusations(world string, x *scenarios.Exploration) []accusation {
	var all []accusation
	for _, f := range x.Failures {
		all = append(all, accusation{world, f.Law})
	}
	if x.Unsettled > 0 {
		all = append(all, accusation{world, "unsettled"})
	}
	return all
}

// shortest is the shortest schedule that breaks a law.
func (w *world) shortest(t *testing.T, g *scenarios.Registry, o scenarios.ExploreOptions, law string) string {
	if law == "unsettled" {
		return ""
	}
	o.Laws, o.First, o.Budget = []string{law}, true, 300
	x, err := scenarios.Explore(t.Context(), w.file, w.until, g, o)
	if err != nil || len(x.Failures) == 0 {
		return ", beside others only"
	}
	return ":\n" + x.Failures[0].Page.Text()
}
