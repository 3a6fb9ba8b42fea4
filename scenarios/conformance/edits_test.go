package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// garden is a subject of an idiom whose sample has more to say.
func garden(t *testing.T, c host.Controller, spec string) Subject {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sample.yaml")
	text := "apiVersion: garden.example.com/v1\nkind: Garden\nmetadata: {name: sample}\nspec: " + spec + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Subject{Controller: c, Samples: []string{file}, Schedules: 10, CRDs: fstest.MapFS{
		"gardens.yaml": {Data: []byte(definition(gardens.Group, gardens.Kind, "gardens"))}}}
}

// debugged is one dependent, which says what spec.debug says, where there is that.
func (a *at) debugged(owner *thing) *thing {
	d := a.dependent(owner, owner.GetName()+"-0")
	if debug, there, _ := unstructured.NestedString(owner.Object, "spec", "debug"); there {
		d.Object["data"].(map[string]any)["debug"] = debug
	}
	return d
}

// createsAndApplies creates its dependent by a plain create, and goes on by server-side apply (kubernetes#99003): what the
// create has said is not the apply's, and stays. With byApply it creates by apply as well.
func createsAndApplies(byApply bool) idiom {
	return func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
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

// mergesFields sets in its dependent what its owner says, and never unsets anything.
func mergesFields(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.debugged(owner)
	d := a.cached(next.GetName())
	if d == nil {
		return a.create(next)
	}
	if !metav1.IsControlledBy(d, owner) {
		return taken(d)
	}
	changed := false
	for key, value := range next.Object["data"].(map[string]any) {
		if was, _, _ := unstructured.NestedString(d.Object, "data", key); was != value {
			changed = true
			d.Object["data"].(map[string]any)[key] = value
		}
	}
	if !changed {
		return nil
	}
	return a.update(d)
}

// createsOnly creates its dependent once as its owner is then, and never changes it: its spec cannot be changed.
func createsOnly(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.debugged(owner)
	if d := a.cached(next.GetName()); d == nil {
		return a.create(next)
	} else if !metav1.IsControlledBy(d, owner) {
		return taken(d)
	}
	return nil
}

// A field that is taken out of the spec of an owner is taken out of its dependents. A controller that never changes a
// dependent is not asked that.
func TestFieldsAreTakenOut(t *testing.T) {
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
			plan := prepared(t, garden(t, operates(gardens, parts, x.idiom), "{color: green, debug: trace}"))
			if text := plan.String(); !strings.Contains(text, x.shown) {
				t.Errorf("it is shown as\n%s", text)
			}
			if x.law != "skip" {
				convicts(t, plan, "removed", x.law)
			} else if c := caseOf(plan, "removed"); c.Skip == "" {
				t.Errorf("removed is tried:\n%s", plan)
			}
		})
	}
}

// signs puts a label and an annotation of its own on its owner. With alone it knows of no others.
func signs(alone bool) idiom {
	return func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
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

// Labels and annotations that somebody else put on an owner stay.
func TestOthersLabelsStay(t *testing.T) {
	convicts(t, prepared(t, garden(t, operates(gardens, parts, signs(true)), "{size: 1, color: green}")), "two-owners", "expect")
	convicts(t, prepared(t, garden(t, operates(gardens, parts, signs(false)), "{size: 1, color: green}")), "two-owners", "")
}

// caseOf is the case of a name.
func caseOf(plan *check.Plan, name string) *check.Case {
	return &plan.Cases[slices.IndexFunc(plan.Cases, func(c check.Case) bool { return c.Name == name })]
}

// A sample that asks for one dependent is tried with two, and no case asks for none. Fields in lists are edited,
// and each field that the controller follows.
func TestEveryFieldIsEdited(t *testing.T) {
	names := func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
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
		for i := range replicas {
			next := a.dependent(owner, fmt.Sprintf("%s-%d", owner.GetName(), i))
			next.Object["data"] = map[string]any{"spec": string(text)}
			d := a.cached(next.GetName())
			switch {
			case d == nil:
				err = a.create(next)
			case !metav1.IsControlledBy(d, owner):
				err = taken(d)
			case !reflect.DeepEqual(d.Object["data"], next.Object["data"]):
				d.Object["data"] = next.Object["data"]
				err = a.update(d)
			}
			if err != nil {
				return err
			}
		}
		for _, d := range a.own(owner) {
			if i, err := strconv.Atoi(strings.TrimPrefix(d.GetName(), owner.GetName()+"-")); err == nil && int64(i) >= replicas {
				if err := a.remove(d); err != nil {
					return err
				}
			}
		}
		return nil
	}
	plan := prepared(t, garden(t, operates(gardens, parts, names),
		"{replicas: 1, ignored: x, hosts: [a, b], ports: [{name: web, port: 80}], size: 1Gi, enabled: true}"))
	for _, line := range []string{
		"sample      with spec.replicas: 2 in place of 1, to have more than one dependent",
		"follows     spec.replicas: 2 -> 3, with 3 dependents in place of 2",
		"follows     spec.enabled: true -> false", "follows     spec.size: 1Gi -> 2Gi",
		"follows     spec.hosts[0]: a -> ax", "follows     spec.hosts[1]: b -> bx", "follows     spec.ports[0].name: web -> webx",
		"follows     spec.ports[0].port: 80 -> 81", "follows     the removal of spec.enabled, spec.hosts, spec.ports, spec.replicas, spec.size",
	} {
		if !strings.Contains(plan.String(), "  "+line+"\n") {
			t.Errorf("not %q in\n%s", line, plan)
		}
	}
	edits := caseOf(plan, "edit").World(nil).User
	for _, field := range []string{"enabled", "size", "hosts", "ports"} {
		if !slices.ContainsFunc(edits, func(a casefile.Action) bool { return strings.Contains(a.Verb, `"`+field+`":`) }) {
			t.Errorf("edit leaves %s alone: %v", field, edits)
		}
	}
	for _, name := range []string{"edit", "removed", "scale", "recreated/background", "replaced"} {
		for _, a := range caseOf(plan, name).World(nil).User {
			if strings.Contains(a.Verb, `"replicas":0`) {
				t.Errorf("%s: %s", name, a.Verb)
			}
		}
		convicts(t, plan, name, "")
	}
}
