package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// plannedFor returns the cases for a Garden with this spec and a controller with this idiom.
func plannedFor(t *testing.T, sync idiom, spec string) *check.Plan {
	t.Helper()
	s := subjectOf(t, by(sync)...)
	s.Samples = []string{sampleFile(t, strings.Replace(gardenOf(spec), "web", "sample", 1))}
	return prepared(t, s)
}

// debugged returns a dependent with the owner's spec.debug, if it is set.
func (a *at) debugged(owner *thing) *thing {
	d := a.dependent(owner, owner.GetName()+"-0")
	if debug := stringAt(owner, "spec", "debug"); debug != "" {
		d.Object["data"].(map[string]any)["debug"] = debug
	}
	return d
}

// createsAndApplies creates its dependent by a create request, and updates it by server-side apply (kubernetes#99003).
// The fields of the create request have another manager, so apply does not remove them. byApply creates by apply.
func createsAndApplies(byApply bool) idiom {
	return func(a *at, owner *thing) error {
		next := a.debugged(owner)
		switch d := a.cached(next.GetName()); {
		case d == nil && !byApply:
			return a.create(next)
		case d != nil && !metav1.IsControlledBy(d, owner):
			return taken(d)
		}
		return a.apply(next, "", true)
	}
}

// mergesFields sets the fields that its owner has, but never removes a field.
func mergesFields(a *at, owner *thing) error {
	next := a.debugged(owner)
	return a.upsert(next, func(is *thing) error {
		maps.Copy(is.Object["data"].(map[string]any), next.Object["data"].(map[string]any))
		return mine(owner, is)
	})
}

// createsOnly creates its dependent and never changes it.
func createsOnly(a *at, owner *thing) error { return a.ensure(owner, a.debugged(owner)) }

// A field that is removed from an owner's spec must be removed from its dependents. A controller that never changes
// dependents is exempt.
func TestFieldsAreRemoved(t *testing.T) {
	for _, x := range []struct {
		name string
		idiom
		law, shown string
	}{
		{"created, then applied", createsAndApplies(false), "expect",
			"keeps       cm/sample-0 data.debug, which comes from spec.debug, when that is removed\n"},
		{"applied from the beginning", createsAndApplies(true), "", "follows     the removal of spec.color, spec.debug\n"},
		{"merged", mergesFields, "expect", "which comes from spec.debug, when that is removed\n"},
		{"never changed", createsOnly, "skip", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			plan := plannedFor(t, x.idiom, "{color: green, debug: trace}")
			shows(t, plan, x.shown)
			if x.law != "skip" {
				finds(t, plan, "removed", x.law)
			} else if c := caseOf(plan, "removed"); c.Skip == "" {
				t.Errorf("removed is tried:\n%s", plan)
			}
		})
	}
}

// The edits of fields have values that the schema allows.
func TestEditsAreValid(t *testing.T) {
	tends := func(a *at, owner *thing) error {
		d := a.bare(owner, owner.GetName())
		d.Object["data"] = map[string]any{"tends": fmt.Sprint(owner.Object["spec"])}
		return a.upsert(d, func(is *thing) error {
			is.Object["data"] = d.Object["data"]
			return mine(owner, is)
		})
	}
	shows(t, plannedFor(t, tends, "{season: spring, depth: 3, beds: [{season: winter, kind: herb}], by: {noon: sun}}"),
		"spec.beds[0].kind: herb -> tree\n", "spec.by.noon: sun -> shade\n", "spec.season: spring -> autumn\n", "spec.depth: 3 -> 2\n", "spec.beds[0].season: winter -> winterx\n")
}

// The verdict does not say that nothing was created if what was created has no owner reference.
func TestVerdictWithoutOwnerReferences(t *testing.T) {
	plan := prepared(t, subjectOf(t, reconciler("plots", gardens, keepsPlot(true), plots)))
	want := "the sample got no dependents with an owner reference"
	tried := []check.Tried{{Name: "one-owner", X: finds(t, plan, "one-owner", "")}}
	if said := plan.Summary(tried, plan.Verdicts(tried)); !strings.Contains(said, want) {
		t.Error(said)
	}
}

// signs sets its own label on its owner. With alone, it removes all other labels.
func signs(alone bool) idiom {
	return func(a *at, owner *thing) error {
		if err := applies(a, owner); err != nil {
			return err
		}
		labels := map[string]string{}
		if !alone {
			maps.Copy(labels, owner.GetLabels())
		}
		if labels["garden"] = "tended"; maps.Equal(labels, owner.GetLabels()) {
			return nil
		}
		owner.SetLabels(labels)
		return a.update(owner)
	}
}

// With Strict, labels and annotations of a user on dependents must stay.
func TestStrict(t *testing.T) {
	for name, x := range map[string]struct {
		idiom
		law string
	}{"sets data": {copies(false), ""}, "sets annotations": {annotates, "others-marks-stay"}} {
		t.Run(name, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				s := subjectOf(t, by(x.idiom)...)
				if s.Strict = strict; !strict {
					finds(t, prepared(t, s), "dependent-held", "")
				} else {
					finds(t, prepared(t, s), "dependent-held", x.law)
				}
			}
		})
	}
}

// annotates replaces all annotations of its dependent.
func annotates(a *at, owner *thing) error {
	next := a.dependent(owner, owner.GetName())
	next.SetAnnotations(map[string]string{"color": stringAt(owner, "spec", "color")})
	return a.upsert(next, func(is *thing) error {
		if is.GetDeletionTimestamp() == nil {
			is.Object["data"] = next.Object["data"]
			is.SetAnnotations(next.GetAnnotations())
		}
		return mine(owner, is)
	})
}

// Labels of other programs on an owner must stay.
func TestOthersLabelsStay(t *testing.T) {
	plan := plannedFor(t, signs(true), "{size: 1, color: green}")
	tried := []check.Tried{{Name: "two-owners", X: finds(t, plan, "two-owners", "expect")}}
	if said := plan.Summary(tried, plan.Verdicts(tried)); !strings.Contains(said, ": VIOLATES expectations, in two-owners. ") {
		t.Error(said)
	}
	finds(t, plannedFor(t, signs(false), "{size: 1, color: green}"), "two-owners", "")
}

// fights changes its dependent back and forth forever after an edit of its owner.
func fights(a *at, owner *thing) error {
	d := a.cached(owner.GetName() + "-0")
	if d == nil {
		return a.create(a.dependent(owner, owner.GetName()+"-0"))
	}
	if stringAt(owner, "spec", "color") == "green" || !metav1.IsControlledBy(d, owner) {
		return nil
	}
	next := map[bool]string{true: "on", false: "off"}[stringAt(d, "data", "color") != "on"]
	d.Object["data"] = map[string]any{"color": next}
	return a.update(d)
}

// follows changes its dependents when its owner changes. It creates no dependents with a wrong color.
func follows(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next, d := a.dependent(owner, name), a.cached(name)
		switch {
		case d == nil:
			return awaits(a, owner)
		case !metav1.IsControlledBy(d, owner):
			return taken(d)
		case !alike(d, next):
			d.Object["data"] = next.Object["data"]
			return a.update(d)
		}
	}
	return nil
}

// insists updates the data of its immutable dependents.
func insists(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		next.Object["immutable"] = true
		if err := a.fills(owner, next); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// The profile shows a request that the server refuses after an edit.
func TestRefusedAfterAnEdit(t *testing.T) {
	shows(t, prepared(t, subjectOf(t, by(insists)...)), "it tries again, and writes nothing; update cm/sample-0 is refused: 422 Invalid: data: ")
}

// The case edit fails if a controller writes forever after the edit. It does not fail if the controller only retries.
func TestEditsThatDoNotSettle(t *testing.T) {
	waits := "waits       after spec.color: green -> greenx: it tries again, and writes nothing\n"
	for _, x := range []struct {
		idiom
		shown string
	}{{fights, "follows     spec.color: green -> greenx, and does not settle any more\n"}, {follows, waits}, {awaits, waits}} {
		shows(t, prepared(t, subjectOf(t, by(x.idiom)...)), x.shown)
	}
	s := subjectOf(t, by(flaps)...)
	shows(t, prepared(t, s), "follows     spec.color: green -> none, and does not settle any more\n")
	for _, i := range []idiom{fights, flaps} {
		world := placed(t, prepared(t, subjectOf(t, by(i)...)), "edit")
		x, err := world.Explore(t.Context(), "edit")
		if err != nil || x.Failed+x.Unsettled != x.Schedules {
			t.Errorf("%v, %s", err, x.Text())
		}
	}
}

// flaps removes and creates its dependent for ever if its owner has no color.
func flaps(a *at, owner *thing) error {
	d := a.dependent(owner, owner.GetName())
	is := a.cached(d.GetName())
	if _, has, _ := unstructured.NestedFieldNoCopy(owner.Object, "spec", "color"); has || is == nil {
		return a.ensure(owner, d)
	}
	return a.remove(is)
}

// specs copies its owner's spec into dependents. Their number is spec.replicas, or 1 without it.
func specs(a *at, owner *thing) error {
	replicas, there, _ := unstructured.NestedInt64(owner.Object, "spec", "replicas")
	if !there {
		replicas = 1
	}
	spec, _, _ := unstructured.NestedMap(owner.Object, "spec")
	delete(spec, "ignored")
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	all := names(owner, replicas)
	for _, name := range all {
		next := a.bare(owner, name)
		next.Object["data"] = map[string]any{"spec": string(text)}
		if err := a.fills(owner, next); err != nil {
			return err
		}
	}
	return a.pruneBut(owner, all...)
}

// A sample with one dependent is edited so that it has two, and no case edits it to zero. Every field to which the
// controller reacts is edited, also in lists, unless the server refuses to undo the edit.
func TestEveryFieldIsEdited(t *testing.T) {
	plan := plannedFor(t, specs,
		"{replicas: 1, ignored: x, hosts: [a, b], ports: [{name: web, port: 80}], size: 1Gi, enabled: true, sealed: false}")
	for _, line := range []string{
		"sample      with spec.replicas: 2 in place of 1, to have more than one dependent",
		"follows     spec.replicas: 2 -> 3, with 3 dependents in place of 2",
		"follows     spec.enabled: true -> false\n  follows     spec.hosts[0]: a -> ax", "follows     spec.size: 1Gi -> 2Gi",
		"follows     spec.hosts[1]: b -> bx", "follows     spec.ports[0].name: web -> webx",
		"follows     spec.ports[0].port: 80 -> 81", "follows     the removal of spec.hosts[1], spec.enabled, spec.hosts, spec.ports, spec.replicas, spec.sealed, spec.size",
	} {
		shows(t, plan, "  "+line+"\n")
	}
	edits := caseOf(plan, "edit").World(nil).User
	for _, field := range []string{"enabled", "size", "hosts", "ports"} {
		if !slices.ContainsFunc(edits, func(a casefile.Action) bool { return strings.Contains(a.Verb, `"`+field+`":`) }) {
			t.Errorf("the case edit does not edit the field %s: %v", field, edits)
		}
	}
	for _, name := range []string{"edit", "removed", "scale", "recreated/background", "replaced"} {
		for _, a := range caseOf(plan, name).World(nil).User {
			if strings.Contains(a.Verb, `"replicas":0`) {
				t.Errorf("%s: %s", name, a.Verb)
			}
		}
		finds(t, plan, name, "")
	}
}

// The profile shows an edit in one line, also of text with several lines.
func TestEditOfALongText(t *testing.T) {
	shows(t, plannedFor(t, specs, `{hosts: ["{{if .ready}}\n  message: the application is ready\n{{end}}"]}`),
		`  follows     spec.hosts[0]: ...n{{end}}" -> ...n{{end}}x"`+"\n")
}

// listing adds and removes its finalizer by a merge patch of the whole list, like client.MergeFrom. If versioned is
// set, the patch contains the resource version that was read.
func listing(versioned bool) idiom {
	return func(a *at, owner *thing) error {
		if owner == nil {
			return nil
		}
		meta := map[string]any{}
		switch deleting := owner.GetDeletionTimestamp() != nil; {
		case deleting && held(owner):
			meta["finalizers"] = without(owner, finished)
		case deleting:
			return nil
		case held(owner):
			return applies(a, owner)
		default:
			meta["finalizers"] = append(owner.GetFinalizers(), finished)
		}
		if versioned {
			meta["resourceVersion"] = owner.GetResourceVersion()
		}
		return a.patch(owner, "", types.MergePatchType, map[string]any{"metadata": meta}, metav1.PatchOptions{})
	}
}

// A patch of an outdated list removes a finalizer of another program. This is a violation and not a lost race, because
// with the resource version the server would refuse the patch.
func TestFinalizersOfOthersAreNotListedAway(t *testing.T) {
	for law, versioned := range map[string]bool{"finalizers-hold": false, "": true} {
		t.Run(law, func(t *testing.T) {
			finds(t, prepared(t, subjectOf(t, reconciler("listing", gardens, listing(versioned), parts))), "held", law)
		})
	}
}

// leavesPlot removes its finalizer without deleting the plot.
var leavesPlot = finalized((*at).plot, func(*at, *thing) error { return nil })

// sharesPlot has one plot for all owners, and deletes it with the last owner.
var sharesPlot = finalized(createsPlot("common"), func(a *at, owner *thing) error {
	all, err := a.list(gardens, "", "")
	if err != nil || slices.ContainsFunc(all, func(o *thing) bool {
		return o.GetDeletionTimestamp() == nil && o.GetUID() != owner.GetUID()
	}) {
		return err
	}
	return ignoreNotFound(a.env.Client.Delete(a, plots, "", "common", metav1.DeleteOptions{}))
})

// A controller deletes the objects that belong to an owner without a reference either always or never. The profile
// says which. A controller that never deletes them, or shares them among owners, is not reported.
func TestLeaks(t *testing.T) {
	for _, x := range []struct {
		name  string
		sync  idiom
		shown string
	}{
		{"it retains", leavesPlot,
			"  leaves      Plot without a reference when its owner is deleted, though it puts a finalizer on it\n"},
		{"it retains, without a finalizer", living((*at).plot), "  leaves      Plot without a reference when its owner is deleted\n"},
		{"another owner has it too", sharesPlot, "  deletes     Plot without a reference when its owner is deleted\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := ofBug(t, []host.Controller{reconciler("plots", gardens, x.sync, plots)})
			shows(t, prepared(t, s), x.shown)
			Test(t, s)
		})
	}
}

// turnsOff creates an object while the owner has the field debug, and deletes it by its name when the field is removed.
// If careful is set, it deletes only its own object, with a precondition.
func turnsOff(careful bool) idiom {
	return func(a *at, owner *thing) error {
		if err := a.ensure(owner, a.dependent(owner, owner.GetName()+"-0")); err != nil {
			return err
		}
		off := a.dependent(owner, owner.GetName()+"-debug")
		if stringAt(owner, "spec", "debug") != "" {
			return a.ensure(owner, off)
		}
		switch is := a.cached(off.GetName()); {
		case !careful:
			return ignoreNotFound(a.env.Client.Delete(a, a.kind, off.GetNamespace(), off.GetName(), metav1.DeleteOptions{}))
		case is != nil && mine(owner, is) == nil:
			return a.remove(is)
		}
		return nil
	}
}

// The case replaced also uses an optional field whose removal makes the sample want fewer dependents.
func TestReplacedAfterARemoval(t *testing.T) {
	finds(t, plannedFor(t, turnsOff(false), "{debug: x}"), "replaced", "same-incarnation")
	finds(t, plannedFor(t, turnsOff(true), "{debug: x}"), "replaced", "")
}

// needsAnOptionalField panics if the owner has no field debug, as a nil pointer does. If once is set, it does nothing for
// an owner that has its dependent.
func needsAnOptionalField(once bool) idiom {
	return func(a *at, owner *thing) error {
		d := a.dependent(owner, owner.GetName()+"-0")
		if once && a.cached(d.GetName()) != nil {
			return nil
		}
		d.Object["data"].(map[string]any)["debug"] = owner.Object["spec"].(map[string]any)["debug"].(map[string]any)["level"]
		return a.upsert(d, func(is *thing) error {
			is.Object["data"] = d.Object["data"]
			return mine(owner, is)
		})
	}
}

// The case removed also removes an optional field without which the controller panics before it writes anything.
func TestPanicWithoutAnOptionalField(t *testing.T) {
	for _, once := range []bool{false, true} {
		plan := plannedFor(t, needsAnOptionalField(once), "{color: red, debug: {level: high}}")
		shows(t, plan, "  panics      if the sample has no spec.debug\n")
		finds(t, plan, "removed", "never-panic")
	}
}

// marksByUID takes each object whose label has the UID of the owner for its own, also without an owner reference, and
// deletes all such objects when the spec has no field debug.
func marksByUID(a *at, owner *thing) error {
	mark := map[string]string{"owner-uid": string(owner.GetUID())}
	d := a.dependent(owner, owner.GetName()+"-debug")
	d.SetLabels(mark)
	is := a.cached(d.GetName())
	switch {
	case stringAt(owner, "spec", "debug") == "":
		all, err := a.list(a.kind, owner.GetNamespace(), "owner-uid="+mark["owner-uid"])
		if err != nil {
			return err
		}
		return a.removeAll(all)
	case is == nil:
		return a.create(d)
	case is != nil && is.GetLabels()["owner-uid"] != mark["owner-uid"]:
		return taken(is)
	case is.GetDeletionTimestamp() != nil || metav1.IsControlledBy(is, owner):
		return nil
	}
	is = is.DeepCopy()
	is.SetOwnerReferences(d.GetOwnerReferences())
	return a.update(is)
}

// Objects of other owners, also of an earlier owner with the same name, do not have the UID of the owner in a label.
func TestUIDOfAnother(t *testing.T) {
	plan := plannedFor(t, marksByUID, "{debug: x}")
	for _, name := range []string{"restored", "replaced", "name-taken"} {
		finds(t, plan, name, "")
	}
}

// keepsPlots creates a plot for each number below size. If the finalizer reads only one page, it deletes two plots.
func keepsPlots(page bool) idiom {
	return finalized(func(a *at, owner *thing) error {
		all := names(owner, intAt(owner, "spec", "size"))
		for i := range all {
			all[i] = fullLabel(owner) + "." + all[i]
			if err := a.plotNamed(owner, all[i]); err != nil {
				return err
			}
		}
		list, err := a.list(plots, "", ownerLabel+"="+fullLabel(owner))
		if err != nil {
			return err
		}
		return a.removeAll(slices.DeleteFunc(list, func(o *thing) bool { return slices.Contains(all, o.GetName()) }))
	}, func(a *at, owner *thing) error {
		list, err := a.list(plots, "", ownerLabel+"="+fullLabel(owner))
		if err != nil {
			return err
		}
		if page && len(list) > 2 {
			list = list[:2]
		}
		return a.removeAll(list)
	})
}

// An owner that is edited before it is deleted leaves nothing without a reference either.
func TestCleanUpAfterAnEdit(t *testing.T) {
	planned := func(page bool) *check.Plan {
		s := ofBug(t, []host.Controller{reconciler("plots", gardens, keepsPlots(page), plots)})
		s.Samples = []string{sampleFile(t, gardenOf("{size: 2}"))}
		return prepared(t, s)
	}
	finds(t, planned(true), "other-namespace", "expect")
	finds(t, planned(false), "other-namespace", "")
}

// notesEvents records each generation of its owner in an Event.
func notesEvents(a *at, owner *thing) error {
	e := object(corev1.SchemeGroupVersion.WithKind("Event"), owner.GetNamespace(), fmt.Sprintf("%s.%d", owner.GetName(), owner.GetGeneration()))
	e.Object["type"], e.Object["reason"] = "Normal", "Seen"
	e.Object["involvedObject"] = map[string]any{"kind": owner.GetKind(), "namespace": owner.GetNamespace(), "name": owner.GetName()}
	_ = a.create(e) // Events are best effort
	return adoptsByName(a, owner)
}

// If the controller records only an Event after an edit, the profile does not say that it follows the edited field.
func TestEventsShowNoReactionToAnEdit(t *testing.T) {
	plan := plannedFor(t, notesEvents, "{size: 1, note: old}")
	shows(t, plan, "  follows     spec.size: ")
	if text := "spec.note"; strings.Contains(plan.String(), text) {
		t.Errorf("the profile has %q:\n%s", text, plan)
	}
}

// givesUpOnTaken never creates a dependent for an owner that has once found its name taken.
func givesUpOnTaken(a *at, owner *thing) error {
	name := owner.GetName() + "-0"
	is := a.cached(name)
	switch {
	case stringAt(owner, "status", "name") == "taken":
		return nil
	case is == nil:
		return a.create(a.dependent(owner, name))
	case !metav1.IsControlledBy(is, owner):
		return a.reports(owner, "name", "taken")
	}
	return nil
}

// When the user has deleted the orphans, a recreated owner gets its dependents.
func TestGivesUpAfterOrphans(t *testing.T) {
	finds(t, plannedFor(t, givesUpOnTaken, "{size: 1}"), "recreated/orphan", "exact-sum")
}
