package convicted_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrong is an operator with a bug, in a world that shows it.
type wrong struct {
	name string   // the bug
	law  string   // the clause that must report it
	tell []string // texts that the page must contain
	run  simtest.Case
}

// convict checks that the laws find each bug: the first failure has the expected clause, and its page names no other.
func convict(t *testing.T, list []wrong) {
	for _, w := range list {
		t.Run(w.law+" "+w.name, func(t *testing.T) {
			if w.run.Schedules == 0 {
				w.run.Schedules = 60
			}
			x, err := w.run.Explore(t.Context(), t.Name())
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Failures) == 0 {
				t.Fatalf("acquitted:\n%s", x.Text())
			}
			f := x.Failures[0]
			page := strings.Join(strings.Fields(f.Page.Text()), " ")
			t.Logf("%d schedules of %d fail, the first is %d\n%s", x.Failed+x.Unsettled, x.Schedules, f.Index,
				f.Page.Text())
			if want := law.ByID(w.law).Name; f.Law != want {
				t.Errorf("convicted by %s, want %s", f.Law, want)
			}
			for _, b := range breaches(t, &w.run, f) { // if several laws break at one record, the first is named
				if b.Law != f.Law && b.Record != f.Page.Breach.Record {
					t.Errorf("made small it breaks %s: %s", b.Law, b.Text)
				}
			}
			for _, text := range w.tell {
				if !strings.Contains(page, text) {
					t.Errorf("the page does not tell %q", text)
				}
			}
			for _, other := range x.Failures[1:] {
				t.Logf("in other schedules: %s: %s", other.Law, other.Text)
			}
		})
	}
}

// violations returns the violations in a minimized failure. It includes lost races only if they count.
func breaches(t *testing.T, c *simtest.Case, f *scenarios.Counterexample) (list []render.Mark) {
	t.Helper()
	file, err := scenarios.Parse("small.txtar", f.File)
	if err != nil {
		t.Fatal(err)
	}
	res := scenarios.Interpret(file, scenarios.Options{Registry: c.Registry(), Inspect: func(r *scenarios.Run) {
		for _, b := range r.Breaches() {
			if !b.Race || c.Strict {
				list = append(list, b)
			}
		}
	}})
	if res.ExitCode != scenarios.ExitPass {
		t.Errorf("made small it does not replay: %v", res.Errors)
	}
	return list
}

// A right operator causes no violation in the world of the wrong ones.
func TestWrongWorldAcquits(t *testing.T) {
	c := operates("fleet", fleets, ships, doing{sync: (*operator).keeps})
	simtest.Check(t,
		simtest.Case{Controllers: []host.Controller{c}, With: []string{"gc"},
			World: world(fleet("a", 2, "north"), fleet("b", 1, "north"), ship("x", "north")),
			User: user("patch fleet/a type=merge '{spec: {replicas: 1}}'", "delete cm/b-0",
				"delete fleet/b --cascade=foreground"),
			Faults: map[string]int{"crash": 1, "stale": 1, "conflict": 1, "error": 1, "lost": 1, "relist": 1,
				"resync": 1},
			Schedules: 300, Strict: false})
}

func TestWrongOwners(t *testing.T)     { convict(t, wrongOwners) }
func TestWrongNumbers(t *testing.T)    { convict(t, wrongNumbers) }
func TestWrongIdentities(t *testing.T) { convict(t, wrongIdentities) }
func TestWrongEnds(t *testing.T)       { convict(t, wrongEnds) }
func TestSubtleOwners(t *testing.T)    { convict(t, subtleOwners) }
func TestSubtleEnds(t *testing.T)      { convict(t, subtleEnds) }
func TestSubtleWork(t *testing.T)      { convict(t, subtleWork) }
func TestMoreSubtle(t *testing.T)      { convict(t, moreSubtle) }
func TestWrongRollouts(t *testing.T)   { convict(t, wrongRollouts) }
func TestWrongOrders(t *testing.T)     { convict(t, wrongOrders) }
func TestWrongPartners(t *testing.T)   { convict(t, wrongPartners) }

// A controller that does its part of the work on a kind is not reported for the part of another.
func TestPartnersAreAcquitted(t *testing.T) {
	c := manned(crews(2))
	c.Schedules = 100
	simtest.Check(t, c)
}

// Every law among the three, on fights and on exactness finds some wrong operator.
func TestEveryClauseConvicts(t *testing.T) {
	var have []string
	for _, w := range slices.Concat(wrongOwners, wrongNumbers, wrongIdentities, wrongEnds, wrongRollouts, wrongOrders) {
		have = append(have, w.law)
	}
	for _, l := range law.All() {
		if (strings.HasPrefix(l.ID, "LAW-") || strings.HasPrefix(l.ID, "EXACT-") || l.ID == "NOFIGHT-1") &&
			!slices.Contains(have, l.ID) {
			t.Errorf("nobody is convicted by %s", l.ID)
		}
	}
}
