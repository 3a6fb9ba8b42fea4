// Package wrongoperators_test contains operators with a bug. For each, the laws must find the bug, and the failure's
// page must explain it.
package wrongoperators_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/law"
)

// wrong is an operator with a bug, in a world that shows it.
type wrong struct {
	name string   // the bug
	law  string   // the clause that must report it
	says []string // texts that the page must contain
	run  simtest.Case
}

var wrongOperators = slices.Concat(wrongOwners, wrongEnds, wrongNumbers, wrongIdentities)

// The first failure of each wrong operator has the expected clause, and its page names no other law.
func TestWrongOperators(t *testing.T) {
	for _, w := range wrongOperators {
		t.Run(w.law+" "+w.name, func(t *testing.T) {
			if w.run.Schedules == 0 {
				w.run.Schedules = 60
			}
			x, err := w.run.Explore(t.Context(), t.Name())
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Failures) == 0 {
				t.Fatalf("not found:\n%s", x.Text())
			}
			f := x.Failures[0]
			t.Logf("%d schedules of %d fail, the first is %d\n%s", x.Failed+x.Unsettled, x.Schedules, f.Index,
				f.Page.Text())
			if want := law.ByID(w.law).Name; f.Law != want {
				t.Errorf("found by %s, want %s", f.Law, want)
			}
			for _, v := range violations(t, &w.run, f) { // if one record violates several laws, the first is named
				if v.Law != f.Law && v.Record != f.Page.Violation.Record {
					t.Errorf("minimized it violates %s: %s", v.Law, v.Text)
				}
			}
			page := strings.Join(strings.Fields(f.Page.Text()), " ")
			for _, text := range w.says {
				if !strings.Contains(page, text) {
					t.Errorf("the page does not contain %q", text)
				}
			}
		})
	}
}

// violations returns the violations in a minimized failure. It returns lost races only if they count.
func violations(t *testing.T, c *simtest.Case, f *scenarios.Counterexample) (list []render.Mark) {
	t.Helper()
	file, err := scenarios.Parse("small.txtar", f.File)
	if err != nil {
		t.Fatal(err)
	}
	res := scenarios.Interpret(file, scenarios.Options{Registry: c.Registry(), Inspect: func(r *scenarios.Run) {
		for _, b := range r.Violations() {
			if !b.Race || c.Strict {
				list = append(list, b)
			}
		}
	}})
	if res.ExitCode != scenarios.ExitPass {
		t.Errorf("minimized it does not replay: %v", res.Errors)
	}
	return list
}

// If two controllers each do a part of the work for a kind, neither is reported for the part of the other.
func TestRightPartners(t *testing.T) {
	c := manned(second(2))
	c.Schedules = 100
	simtest.Check(t, c)
}

// shown matches the laws for which this package has wrong operators. The stories in sim/law cover the laws after
// EXACT-8, which need a declaration or a quiet run.
var shown = regexp.MustCompile(`^(LAW-.*|EXACT-[1-8]b?|NOFIGHT-1)$`)

// Each of these laws finds some wrong operator.
func TestEveryClauseFindsABug(t *testing.T) {
	for _, l := range law.All() {
		if shown.MatchString(l.ID) && !slices.ContainsFunc(wrongOperators, func(w wrong) bool { return w.law == l.ID }) {
			t.Errorf("%s finds no wrong operator", l.ID)
		}
	}
}
