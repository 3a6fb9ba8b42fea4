package conformance

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/host"
)

// restless creates its owner's dependents. It then changes its status forever if a condition holds.
func restless(creates idiom, forever func(a *at, owner *thing) bool) host.Controller {
	return by(func(a *at, owner *thing) error {
		if err := creates(a, owner); err != nil || !forever(a, owner) {
			return err
		}
		return a.reports(owner, "turn", 1-intAt(owner, "status", "turn"))
	})[0]
}

// stranger reports whether an object in the cache belongs to no owner.
func stranger(a *at, _ *thing) bool {
	return slices.ContainsFunc(a.seen(parts), func(o *thing) bool {
		return metav1.GetControllerOf(o) == nil && o.GetName() != "kube-root-ca.crt"
	})
}

// nameless creates a dependent whose name the server generates.
func nameless(a *at, owner *thing) error {
	if len(a.own(owner)) > 0 {
		return nil
	}
	d := a.bare(owner, "")
	d.SetGenerateName(owner.GetName() + "-")
	return a.create(d)
}

// flipsPlot creates a plot for its owner. It changes the plot forever after the owner's deletion.
func flipsPlot(a *at, owner *thing) error {
	if owner != nil {
		return a.plot(owner)
	}
	for _, p := range a.seen(plots) {
		if a.cachedAt(gardens, keyOf(gardens, p, p.GetLabels()[ownerLabel])) == nil {
			p.Object["spec"] = map[string]any{"turn": 1 - intAt(p, "spec", "turn")}
			return a.update(p)
		}
	}
	return nil
}

// hourly creates a dependent every hour if its owner is not green.
func hourly(a *at, owner *thing) error {
	if stringAt(owner, "spec", "color") == "green" {
		return a.ensure(owner, a.bare(owner, owner.GetName()))
	}
	hour := int(time.Since(owner.GetCreationTimestamp().Time) / time.Hour)
	a.env.Queue.AddAfter(key(owner), time.Hour)
	return ignoreAlreadyExists(a.create(a.bare(owner, owner.GetName()+"-"+strconv.Itoa(hour))))
}

// If a quiet run does not settle, it does not show that the controller cannot do something. Cases that need the fact
// are skipped as unknown.
func TestUnsettledFactsAreUnknown(t *testing.T) {
	always := func(*at, *thing) bool { return true }
	size := func(n int64) func(*at, *thing) bool {
		return func(_ *at, owner *thing) bool { return intAt(owner, "spec", "size") == n }
	}
	fieldless := func(_ *at, owner *thing) bool { return len(owner.Object["spec"].(map[string]any)) < 2 }
	edited := func(removed bool) func(*at, *thing) bool {
		return func(a *at, owner *thing) bool { return owner.GetGeneration() > 1 && fieldless(a, owner) == removed }
	}
	alone := "unknown: it does not settle with its sample alone"
	for name, x := range map[string]struct {
		of      host.Controller
		skipped map[string]string // case -> the beginning of the reason
	}{
		"always": {restless(corrects, always), map[string]string{"edit": alone, "scale": alone, "removed": alone,
			"rival-for-an-orphan": alone, "name-taken": alone, "replaced": alone, "deleted/early": alone,
			"deleted/unseen": alone}},
		"beside a stranger": {restless(nameless, stranger), map[string]string{
			"terminating-orphan": "unknown: whether it adopts a ConfigMap: the quiet run did not settle",
			"name-taken":         "unknown: whether it names a ConfigMap: the quiet run did not settle",
			"replaced":           "unknown: whether it names a ConfigMap: the quiet run did not settle"}},
		"with more": {restless(corrects, size(3)), map[string]string{
			"scale": "unknown: which number it follows: the quiet run did not settle after spec.size: 2 -> 3"}},
		"with fewer": {restless(corrects, size(1)), map[string]string{
			"replaced": "unknown: what it has with fewer dependents: the quiet run did not settle"}},
		"without a field": {restless(corrects, fieldless), map[string]string{
			"removed": "unknown: which removals it follows: the quiet run did not settle without spec.color"}},
		"after a removal": {restless(corrects, edited(true)), map[string]string{
			"removed": "unknown: which removals it follows: the quiet run did not settle after the removal of spec.color"}},
		"after an addition": {restless(corrects, edited(false)), map[string]string{
			"removed": "unknown: which removals it follows: the quiet run did not settle after spec.color was added"}},
		"at each tick": {backups(time.Hour, 1_000_000), map[string]string{
			"removed": "unknown: which removals it follows: that depends on the time"}},
		"without an owner": {reconciler("restless", gardens, flipsPlot, plots), map[string]string{
			"deleted/unseen": "unknown: what it deletes after its owner: the quiet run did not settle after the deletion of its owner"}},
		"by the clock": {by(hourly)[0], map[string]string{
			"edit": "unknown: which fields it follows: the quiet run did not settle after spec.color: green -> greenx"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := prepared(t, subjectOf(t, x.of))
			for of, want := range x.skipped {
				if c := caseOf(plan, of); !strings.HasPrefix(c.Skip, want) {
					t.Errorf("%s is skipped for %q, want %q\n%s", of, c.Skip, want, plan)
				}
			}
		})
	}
}

// If it is unknown whether a controller adopts, the laws about adoptions are not judged, and orphans may be deleted. If
// nothing is known, every law may apply.
func TestUnknownAdoption(t *testing.T) {
	plan := prepared(t, subjectOf(t, restless(nameless, stranger)))
	if strings.Contains(plan.String(), "  adopts ") {
		t.Errorf("it is known to adopt nothing:\n%s", plan)
	}
	for _, v := range plan.Verdicts(nil) {
		if v.Name == "adopt-matching-only" && (v.State != check.NotJudged || !strings.HasPrefix(v.Why, "unknown: whether it adopts")) {
			t.Errorf("%s: %s: %s", v.Name, v.State, v.Why)
		}
	}
	if caseOf(plan, "deleted/orphan").World(nil).Settled != nil {
		t.Error("a deletion of an orphan is reported")
	}
	plan = prepared(t, subjectOf(t, restless(corrects, func(*at, *thing) bool { return true })))
	for _, v := range plan.Verdicts(nil) {
		if v.State == check.NotIts {
			t.Errorf("it does not settle with its sample alone, but %s %s: %s", v.Name, v.State, v.Why)
		}
	}
}

// keepsRevisions creates a dependent for each color, and keeps the newest two.
func keepsRevisions(a *at, owner *thing) error {
	all, last := a.own(owner), int64(0)
	number := func(d *thing) int64 {
		n, _ := strconv.ParseInt(stringAt(d, "data", "revision"), 10, 64)
		return n
	}
	for _, d := range all {
		last = max(last, number(d))
	}
	next := a.dependent(owner, owner.GetName()+"-"+hashOf(owner))
	set := func(n int64) { next.Object["data"].(map[string]any)["revision"] = strconv.FormatInt(n, 10) }
	switch d := a.cached(next.GetName()); {
	case d == nil:
		set(last + 1)
		return a.create(next)
	case !metav1.IsControlledBy(d, owner):
		return taken(d)
	case number(d) != last:
		set(last + 1)
		next.SetResourceVersion(d.GetResourceVersion())
		return a.update(next)
	}
	for _, d := range all {
		if d.GetDeletionTimestamp() == nil && number(d) < last-1 {
			return a.remove(d)
		}
	}
	return nil
}

// The number of dependents of a controller that keeps old revisions depends on earlier edits. Its cases edit all fields
// that it follows. No case expects a number after an edit.
func TestRevisionsAreKept(t *testing.T) {
	s := subjectOf(t, by(keepsRevisions)...)
	s.Samples = []string{sampleFile(t, gardenOf("{color: green}"))}
	plan := prepared(t, s)
	shows(t, plan, "follows     spec.color: green -> greenx, with 2 dependents in place of 1, and it keeps what it had before\n")
	if c := caseOf(plan, "dependent-unseen"); !strings.Contains(c.Skip, "it keeps what it had before") {
		t.Errorf("dependent-unseen is skipped for %q", c.Skip)
	}
	for _, name := range []string{"edit", "removed"} {
		if edits := placed(t, plan, name).User; len(edits) == 0 {
			t.Errorf("%s edits nothing", name)
		}
	}
	Test(t, s)
}
