package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// sample is a subject of the tests' kind.
func sample(c host.Controller) Subject {
	return Subject{Controller: c, CRDs: os.DirFS("testdata/crd"), Samples: []string{"testdata/widget.yaml"}}
}

// A right operator passes without an excuse, whether it adopts or not.
func TestRightOperators(t *testing.T) {
	t.Run("numbered", func(t *testing.T) { Test(t, sample(widget(false, wrong{}))) })
	t.Run("adopting", func(t *testing.T) { Test(t, sample(widget(true, wrong{}))) })
	t.Run("by name", func(t *testing.T) { Test(t, sample(widget(false, wrong{joins: true}))) })
}

// A right operator is not accused of what a collector does that starts from an older list: it lets an owner go
// before it has seen all that it was to orphan, and collects the rest.
func TestOrphansOfTheRight(t *testing.T) {
	c := placed(t, prepared(t, sample(widget(false, wrong{silent: true}))), "deleted/orphan")
	c.Schedules = 2000
	simtest.Check(t, c)
}

// placed is the world of the case of a name.
func placed(t *testing.T, plan *check.Plan, name string, before ...check.Tried) simtest.Case {
	i := slices.IndexFunc(plan.Cases, func(c check.Case) bool { return c.Name == name })
	if i < 0 || plan.Cases[i].Skip != "" {
		t.Fatalf("%s is not tried", name)
	}
	return simtest.Case(*plan.Cases[i].World(before))
}

// explored tries cases one after the other, as Test does.
func explored(t *testing.T, plan *check.Plan, names ...string) (cases []check.Tried) {
	for _, name := range names {
		whole := placed(t, plan, name, cases...)
		x, err := whole.Explore(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, check.Tried{Name: name, X: x})
	}
	return cases
}

type convicted struct {
	adopts bool
	wrong
	where, law string
}

// wrongs are operators with a bug, each with the case and the law that convicts it.
var wrongs = []convicted{
	{false, wrong{bare: true}, "one-owner", "take-ownership"},
	{false, wrong{plain: true}, "one-owner", "take-ownership"},
	{false, wrong{misgives: true}, "one-owner", "take-ownership"},
	{true, wrong{grows: true}, "faults", "exact-sum"},
	{false, wrong{mixes: true}, "two-owners", "dont-interfere"},
	{true, wrong{grows: true}, "two-instances", "exact-sum"},
	{false, wrong{bare: true}, "edit", "take-ownership"},
	{false, wrong{keeps: true}, "removed", "expect"},
	{false, wrong{grows: true}, "scale", "exact-sum"},
	{false, wrong{shares: true}, "orphan", "dont-interfere"},
	{true, wrong{shares: true}, "orphan", "exact-sum"},
	{false, wrong{byLabel: true}, "somebody-elses", "dont-interfere"},
	{true, wrong{grabs: true}, "rival-for-an-orphan", "one-winner"},
	{true, wrong{dying: true}, "terminating-orphan", "spare-the-dying"},
	{false, wrong{recalls: true}, "dependent-deleted", "exact-sum"},
	{true, wrong{clings: true}, "relabelled", "release-what-left"},
	{true, wrong{drops: true}, "relabelled", "release-what-left"},
	{true, wrong{fussy: true}, "released-and-gone", "release-tolerates-gone"},
	{false, wrong{recalls: true}, "reference-taken-away", "exact-sum"},
	{false, wrong{takes: true}, "name-taken", "claim-orphans-only"},
	{false, wrong{blind: true}, "replaced", "same-incarnation"},
	{false, wrong{anchors: true}, "deleted/background", "nothing-stays-terminating"},
	{false, wrong{anchors: true}, "deleted/foreground", "nothing-stays-terminating"},
	{true, wrong{going: true}, "deleted/orphan", "status-only-when-going"},
	{false, wrong{cascades: true}, "deleted/orphan", "status-only-when-going"},
	{false, wrong{namesake: true}, "recreated/background", "namesakes-are-strangers"},
	{false, wrong{recalls: true}, "recreated/foreground", "exact-sum"},
	{true, wrong{going: true}, "recreated/orphan", "status-only-when-going"},
	{true, wrong{strips: true}, "held", "expect"},
	{true, wrong{going: true}, "terminating", "status-only-when-going"},
	{false, wrong{namesake: true}, "restored", "namesakes-are-strangers"},
	{true, wrong{namesake: true}, "restored", "namesakes-are-strangers"},
}

// Each wrong operator is convicted by the law that says what is wrong with it, in the
// case that brings it about.
func TestWrongOperators(t *testing.T) {
	for _, w := range wrongs {
		t.Run(w.where+" "+w.law, func(t *testing.T) {
			plan := prepared(t, sample(widget(w.adopts, w.wrong)))
			c := placed(t, plan, w.where)
			x, err := c.Explore(t.Context(), t.Name())
			if err != nil {
				t.Fatal(err)
			}
			var laws []string
			for _, failure := range x.Failures {
				laws = append(laws, failure.Law)
			}
			if !slices.Contains(laws, w.law) {
				t.Errorf("convicted by %q\n%s\n%s", laws, plan, x.Text())
			}
		})
	}
}

// Every case convicts somebody: one that cannot fail says nothing by passing.
func TestEveryCaseConvicts(t *testing.T) {
	for _, c := range prepared(t, sample(widget(true, wrong{}))).Cases {
		if !slices.ContainsFunc(wrongs, func(w convicted) bool { return w.where == c.Name }) &&
			!slices.ContainsFunc(publicBugs, func(b publicBug) bool { return b.where == c.Name }) {
			t.Errorf("nobody is convicted in %s", c.Name)
		}
	}
}

// What nobody asked is not called held, and what is broken is told once.
func TestVerdicts(t *testing.T) {
	plan := prepared(t, sample(widget(false, wrong{shares: true})))
	cases := explored(t, plan, "one-owner", "orphan", "somebody-elses")
	got := map[string]string{}
	for _, v := range plan.Verdicts(cases) {
		got[v.Name] = strings.TrimSpace(v.State + ": " + v.Why)
	}
	for name, want := range map[string]string{
		"take-ownership":            "held:",
		"dont-interfere":            "broken: broken in orphan",
		"adopt-matching-only":       "does not apply: it adopts nothing",
		"exact-status":              "not judged: which numbers of its status count dependents: declare Counts",
		"finalizers-hold":           "not asked: nothing that could have broken it happened in these worlds",
		"nothing-stays-terminating": "does not apply: it puts no finalizers on objects",
		"never-mutate":              "", // it is held to ownership
		"collect-the-ownerless":     "", // that is the collector's
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if n := len(law.All()); len(got) == 0 || len(got) >= n {
		t.Errorf("%d verdicts of %d laws", len(got), n)
	}
}

// Invariants of a subject are judged in each case, like laws: one that holds, and one that does not, which is told once.
func TestInvariantsOfSubject(t *testing.T) {
	least := func(id string, n int) *law.Invariant {
		return &law.Invariant{ID: id, Sentence: "There are few enough ConfigMaps.", When: law.WhenSettled,
			Check: func(f *law.Facts) string {
				if have := len(f.All("ConfigMap")); have > n {
					return fmt.Sprintf("there are %d", have)
				}
				return ""
			}}
	}
	s := sample(widget(false, wrong{}))
	s.Invariants = []*law.Invariant{least("few-enough", 100), least("none-at-all", 0)}
	plan := prepared(t, s)
	cases := explored(t, plan, "one-owner", "orphan")
	got := map[string]string{}
	for _, v := range plan.Verdicts(cases) {
		got[v.Name] = v.State + ": " + v.Why
	}
	if got["few-enough"] != "held: " || got["none-at-all"] != "broken: broken in one-owner" {
		t.Errorf("few-enough is %q, none-at-all %q", got["few-enough"], got["none-at-all"])
	}
}
