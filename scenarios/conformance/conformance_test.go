package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// sample returns a subject for a controller of Widgets.
func sample(c host.Controller) Subject {
	return Subject{Controller: c, CRDs: os.DirFS("testdata/crd"), Samples: []string{"testdata/widget.yaml"}}
}

// prepared derives the cases for the first sample. A mistake ends the test.
func prepared(t testing.TB, given Subject) *check.Plan {
	t.Helper()
	return given.prepared(t, given.first())
}

// shows fails the test if the plan's text does not contain these texts.
func shows(t *testing.T, plan *check.Plan, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(plan.String(), text) {
			t.Errorf("not %q in\n%s", text, plan)
		}
	}
}

func caseOf(plan *check.Plan, name string) *check.DerivedCase {
	return &plan.Cases[slices.IndexFunc(plan.Cases, func(c check.DerivedCase) bool { return c.Name == name })]
}

// placed returns the world of a case that is not skipped.
func placed(t *testing.T, plan *check.Plan, name string, before ...check.Tried) simtest.Case {
	t.Helper()
	c := caseOf(plan, name)
	if c.Skip != "" {
		t.Fatalf("%s is skipped: %s", name, c.Skip)
	}
	return simtest.Case(*c.World(before))
}

// explored explores cases in sequence, as Test does.
func explored(t *testing.T, plan *check.Plan, names ...string) (cases []check.Tried) {
	t.Helper()
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

func laws(x *scenarios.Exploration) (laws []string) {
	for _, f := range x.Failures {
		laws = append(laws, f.Law)
	}
	return laws
}

// finds explores a case. It fails the test unless law is violated, or if law is "", unless no law is violated.
func finds(t *testing.T, plan *check.Plan, name, law string) *scenarios.Exploration {
	t.Helper()
	world := placed(t, plan, name)
	if world.Schedules = 60; law == "" {
		world.Schedules = 10
	}
	x, err := world.Explore(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if law == "" && x.Failed+x.Unsettled > 0 || law != "" && !slices.Contains(laws(x), law) {
		t.Errorf("violated: %q, want %q\n%s\n%s", laws(x), law, plan, x.Text())
	}
	return x
}

// A right operator passes without any declaration, whether it adopts or not.
func TestRightOperators(t *testing.T) {
	t.Run("numbered", func(t *testing.T) { Test(t, sample(widget(false, wrong{}))) })
	t.Run("adopting", func(t *testing.T) { Test(t, sample(widget(true, wrong{}))) })
}

// A garbage collector with an older list may stop waiting for an owner before it has seen all dependents. It may then
// delete dependents that it has not orphaned. The operator is not reported for this.
func TestOrphansOfTheRight(t *testing.T) {
	c := placed(t, prepared(t, sample(widget(false, wrong{silent: true}))), "deleted/orphan")
	c.Schedules = 2000
	simtest.Check(t, c)
}

// In its finalizer, an operator may delete a dependent that was orphaned after the last event that it has seen.
func TestOrphansInFinalizer(t *testing.T) {
	deletes := reconciler("deletes", gardens, finalized(sums, removesSeen), works)
	c := placed(t, prepared(t, subjectOf(t, deletes)), "deleted/orphan")
	c.Schedules = 200
	simtest.Check(t, c)
}

// wrongOperator is an operator with a bug, and the case and the law that find the bug.
type wrongOperator struct {
	adopts bool
	wrong
	where, law string
}

var wrongOperators = []wrongOperator{
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
	{true, wrong{dying: true}, "terminating-orphan", "skip-terminating-orphans"},
	{false, wrong{recalls: true}, "dependent-deleted", "exact-sum"},
	{false, wrong{misroutes: true}, "dependent-deleted", "exact-sum"},
	{true, wrong{clings: true}, "relabelled", "release-non-matching"},
	{true, wrong{drops: true}, "relabelled", "release-non-matching"},
	{true, wrong{fussy: true}, "released-and-gone", "release-tolerates-gone"},
	{false, wrong{recalls: true}, "reference-taken-away", "exact-sum"},
	{false, wrong{takes: true}, "name-taken", "claim-orphans-only"},
	{false, wrong{recalls: true}, "name-taken", "exact-sum"},
	{false, wrong{blind: true}, "replaced", "same-incarnation"},
	{false, wrong{anchors: true}, "deleted/background", "nothing-stays-terminating"},
	{false, wrong{anchors: true}, "deleted/foreground", "nothing-stays-terminating"},
	{true, wrong{going: true}, "deleted/orphan", "status-only-when-terminating"},
	{false, wrong{cascades: true}, "deleted/orphan", "status-only-when-terminating"},
	{false, wrong{recreated: true}, "recreated/background", "recreated-is-another"},
	{false, wrong{recalls: true}, "recreated/foreground", "exact-sum"},
	{true, wrong{going: true}, "recreated/orphan", "status-only-when-terminating"},
	{true, wrong{strips: true}, "held", "finalizers-hold"},
	{true, wrong{going: true}, "terminating", "status-only-when-terminating"},
	{false, wrong{recreated: true}, "restored", "recreated-is-another"},
	{true, wrong{recreated: true}, "restored", "recreated-is-another"},
}

// The case for a bug finds it, and reports the right law. The correct operator passes in the file of the failure. It
// settles there, although the file may end while a watch is paused.
func TestWrongOperators(t *testing.T) {
	for _, w := range wrongOperators {
		t.Run(w.where+" "+w.law, func(t *testing.T) {
			x := finds(t, prepared(t, sample(widget(w.adopts, w.wrong))), w.where, w.law)
			fixed := caseOf(prepared(t, sample(widget(w.adopts, wrong{}))), w.where).World(nil).Registry()
			for _, f := range x.Failures {
				path, err := kept.Keep(t.TempDir(), f)
				clears := f.Law != "exact-sum" || w.where != "name-taken" || strings.Contains(string(f.File), "\ndelete cm/")
				if r := kept.Replay(fixed, path); err != nil || r.Page != nil || r.Errors != nil || !clears {
					t.Errorf("the file of %s fails: %v, %v, %v\n%s", f.Law, err, r.Errors, r.Page, f.File)
				}
			}
		})
	}
}

// Every case finds a bug in at least one wrong operator. If a case could not fail, its pass would prove nothing.
func TestEveryCaseFindsABug(t *testing.T) {
	starts, op := 0, widget(true, wrong{})
	op.New = func(env *host.Env) host.Reconciler { starts++; return widget(true, wrong{}).New(env) }
	plan := prepared(t, sample(op))
	if starts > 29 {
		t.Errorf("%d quiet runs: some repeat others", starts)
	}
	for _, c := range plan.Cases {
		if !slices.ContainsFunc(wrongOperators, func(w wrongOperator) bool { return w.where == c.Name }) &&
			!slices.ContainsFunc(publicBugs, func(b publicBug) bool { return b.where == c.Name }) &&
			!slices.ContainsFunc(deletions, func(d deletion) bool { return d.where == c.Name }) {
			t.Errorf("no bug is found in %s", c.Name)
		}
	}
}

// verdicts explores cases and returns the state of each law.
func verdicts(t *testing.T, plan *check.Plan, names ...string) map[string]string {
	got := map[string]string{}
	for _, v := range plan.Verdicts(explored(t, plan, names...)) {
		got[v.Name] = strings.TrimSpace(v.State + ": " + v.Why)
	}
	return got
}

// A law that was not exercised is not reported as held. Only the first case with a violation reports the violation,
// and somebody-elses reports it again after orphan: to take the object of another owner is worse.
func TestVerdicts(t *testing.T) {
	got := verdicts(t, prepared(t, sample(widget(false, wrong{shares: true}))), "one-owner", "orphan", "somebody-elses", "orphan")
	for name, want := range map[string]string{
		"take-ownership":            "held:",
		"dont-interfere":            "violated: in orphan, somebody-elses",
		"adopt-matching-only":       "does not apply: it adopts nothing",
		"exact-status":              "not judged: which numbers of its status count dependents: declare Counts",
		"finalizers-hold":           "not exercised: no case could have violated it",
		"nothing-stays-terminating": "does not apply: it puts no finalizers on objects",
		"never-mutate":              "", // not a law about ownership
		"collect-without-owner":     "", // a law about the garbage collector
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if n := len(law.All()); len(got) == 0 || len(got) >= n {
		t.Errorf("%d verdicts of %d laws", len(got), n)
	}
}

// Invariants of a subject are checked in each case, like laws.
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
	got := verdicts(t, prepared(t, s), "one-owner", "orphan")
	if got["few-enough"] != "held:" || got["none-at-all"] != "violated: in one-owner" {
		t.Errorf("few-enough is %q, none-at-all %q", got["few-enough"], got["none-at-all"])
	}
	s = subjectOf(t, admitted(kueue(false))...)
	s.Invariants = []*law.Invariant{least("few-enough", 100)}
	plan := prepared(t, s)
	for _, v := range plan.Verdicts(explored(t, plan, "one-owner")) {
		if v.Name == "few-enough" && v.Worlds != 1 {
			t.Errorf("with two controllers, one case counts as %d", v.Worlds)
		}
	}
}
