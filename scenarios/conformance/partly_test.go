package conformance

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// copies gives its dependent the owner's color twice. It updates both values, unless once is set: then the second one
// stays as it was created.
func copies(once bool) idiom {
	return func(a *at, owner *thing) error {
		color := stringAt(owner, "spec", "color")
		if a.kind == secrets {
			color = base64.StdEncoding.EncodeToString([]byte(color))
		}
		next := a.bare(owner, owner.GetName())
		next.Object["data"] = map[string]any{"color": color, "copy": color}
		return a.upsert(next, func(is *thing) error {
			data := is.Object["data"].(map[string]any)
			if data["color"] = color; !once {
				data["copy"] = color
			}
			return mine(owner, is)
		})
	}
}

// reportsCopy copies once, and reports in the status which color was copied.
func reportsCopy(a *at, owner *thing) error {
	if err := copies(true)(a, owner); err != nil {
		return err
	}
	if is := a.cached(owner.GetName()); is != nil {
		return a.reports(owner, "color", stringAt(is, "data", "copy"))
	}
	return nil
}

// claimsReady copies once, and reports in a condition that the current generation is ready.
func claimsReady(a *at, owner *thing) error {
	if err := copies(true)(a, owner); err != nil {
		return err
	}
	return a.ready(owner, "True", "Copied")
}

// warns copies once, and records in an Event that it does not copy to existing dependents.
func warns(a *at, owner *thing) error {
	e := object(corev1.SchemeGroupVersion.WithKind("Event"), owner.GetNamespace(), fmt.Sprintf("%s.%x", owner.GetName(), a.env.Now().UnixNano()))
	e.Object["type"], e.Object["reason"] = "Warning", "Kept"
	e.Object["involvedObject"] = map[string]any{"kind": owner.GetKind(), "namespace": owner.GetNamespace(), "name": owner.GetName()}
	if is := a.cached(owner.GetName()); is != nil && stringAt(is, "data", "color") != stringAt(owner, "spec", "color") {
		_ = a.create(e) // Events are best effort
	}
	return copies(true)(a, owner)
}

// bootstraps gives its dependent the size that its owner had at first, and the size that it has now.
func bootstraps(a *at, owner *thing) error {
	size := fmt.Sprint(intAt(owner, "spec", "size"))
	next := a.bare(owner, owner.GetName())
	next.Object["data"] = map[string]any{"first": size, "size": size}
	return a.upsert(next, func(is *thing) error {
		is.Object["data"].(map[string]any)["size"] = size
		return mine(owner, is)
	})
}

// startsWith creates a Deployment with the smallest number of replicas, which an autoscaler changes later.
func startsWith(a *at, owner *thing) error {
	least := intAt(owner, "spec", "least")
	next := a.bare(owner, owner.GetName())
	labels := map[string]any{"garden": owner.GetName()}
	next.Object["spec"] = map[string]any{"replicas": least, "minReadySeconds": least,
		"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.example/main"}}}}}
	return a.upsert(next, func(is *thing) error {
		is.Object["spec"].(map[string]any)["minReadySeconds"] = least
		return mine(owner, is)
	})
}

// templates creates a StatefulSet whose selector and first label have the owner's color. The server refuses to change
// these, but the image can change.
func templates(a *at, owner *thing) error {
	color := stringAt(owner, "spec", "color")
	next := a.bare(owner, owner.GetName())
	labels := map[string]any{"color": color}
	next.Object["spec"] = map[string]any{"selector": map[string]any{"matchLabels": labels}, "serviceName": "none",
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{
			map[string]any{"name": "main", "image": "registry.example/" + color}}}}}
	return a.upsert(next, func(is *thing) error {
		list, _, _ := unstructured.NestedSlice(is.Object, "spec", "template", "spec", "containers")
		list[0].(map[string]any)["image"] = "registry.example/" + color
		if err := unstructured.SetNestedSlice(is.Object, list, "spec", "template", "spec", "containers"); err != nil {
			return err
		}
		return mine(owner, is)
	})
}

// If an edit changes some values of a dependent, it must change all values that come from the edited field. Exempt are
// values that may rightly stay (see below), and controllers whose status or Events show that values stay.
func TestEditsAreFollowedWhole(t *testing.T) {
	for _, x := range []struct {
		name string
		idiom
		kind schema.GroupVersionKind
		law  string
	}{
		{"both values", copies(false), parts, ""},
		{"one value", copies(true), parts, "expect"},
		{"one value, and the status claims both", claimsReady, parts, "expect"},
		{"a value that is reported", reportsCopy, parts, ""},
		{"a value of a Secret", copies(true), secrets, ""},
		{"a value of a custom object", copies(true), works, ""},
		{"a value with a warning", warns, parts, ""},
		{"a size at the start", bootstraps, parts, ""},
		{"a number of replicas", startsWith, deployments, ""},
		{"a value that cannot change", templates, statefulSets, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := subjectOf(t, reconciler("partly", gardens, living(x.idiom), x.kind))
			s.Samples = []string{sampleFile(t, strings.Replace(gardenOf("{color: green, least: 1, size: 1}"), "web", "sample", 1))}
			plan := prepared(t, s)
			finds(t, plan, "edit", x.law)
			if keeps := strings.Contains(plan.String(), "keeps       cm/sample data.copy after spec.color: green -> greenx, which cm/sample data.color follows\n"); keeps != (x.law != "") {
				t.Errorf("the plan is\n%s", plan)
			}
		})
	}
}

// metered creates a Service if its owner has metrics. With always, metrics are on unless they are false. once says what
// happens when the owner no longer has metrics.
func metered(always bool, once func(a *at, owner, service *thing) error) idiom {
	return func(a *at, owner *thing) error {
		metrics, _, _ := unstructured.NestedFieldNoCopy(owner.Object, "spec", "metrics")
		is := a.cachedAt(services, a.namespace+"/"+owner.GetName())
		next, other := a.bare(owner, owner.GetName()), a.dependent(owner, owner.GetName())
		other.SetGroupVersionKind(parts)
		next.Object["spec"] = map[string]any{"selector": map[string]any{"garden": owner.GetName()}, "ports": []any{map[string]any{"port": int64(80)}}}
		switch {
		case metrics != false && (always || metrics != nil):
			if err := a.upsert(next, func(is *thing) error {
				is.Object["spec"].(map[string]any)["selector"] = next.Object["spec"].(map[string]any)["selector"]
				return mine(owner, is)
			}); err != nil {
				return err
			}
		case is != nil && is.GetDeletionTimestamp() == nil && metav1.IsControlledBy(is, owner):
			if err := once(a, owner, is); err != nil {
				return err
			}
		}
		return a.ensure(owner, other)
	}
}

// renamesService creates a Service whose name says whether its owner has metrics. It keeps the Service of the other name, so
// that clients have time to follow.
func renamesService(a *at, owner *thing) error {
	name := owner.GetName() + "-plain"
	if _, has, _ := unstructured.NestedFieldNoCopy(owner.Object, "spec", "metrics"); has {
		name = owner.GetName() + "-metered"
	}
	next := a.bare(owner, name)
	next.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
	return a.ensure(owner, next)
}

// waitsForMetrics creates its dependents only if its owner has metrics. Without metrics it keeps what there is; tells says
// whether its status says so.
func waitsForMetrics(tells bool) idiom {
	return func(a *at, owner *thing) error {
		phase := "Ready"
		if _, has, _ := unstructured.NestedFieldNoCopy(owner.Object, "spec", "metrics"); has {
			if err := metered(false, nil)(a, owner); err != nil {
				return err
			}
		} else {
			phase = "Waiting"
		}
		if !tells {
			return nil
		}
		return a.reports(owner, "phase", phase)
	}
}

// A dependent that exists because of an optional field must go when the field is removed or turned off. Exempt are kinds
// with data, dependents that the controller changes instead, and controllers whose status shows the difference.
func TestDependentsOfRemovedFieldsGo(t *testing.T) {
	forgets := func(*at, *thing, *thing) error { return nil }
	removes := func(a *at, _, is *thing) error { return a.remove(is) }
	empties := func(a *at, _, is *thing) error {
		c := is.DeepCopy()
		unstructured.RemoveNestedField(c.Object, "spec", "selector")
		if reflect.DeepEqual(c, is) {
			return nil
		}
		return a.update(c)
	}
	reports := func(a *at, owner, _ *thing) error { return a.reports(owner, "metrics", "kept") }
	for _, x := range []struct {
		name, spec string
		idiom
		law, shown string
	}{
		{"deleted", "{metrics: {port: 80}}", metered(false, removes), "", ""},
		{"kept", "{metrics: {port: 80}}", metered(false, forgets), "expect", "svc/sample, which comes from spec.metrics, when that is removed\n"},
		{"deleted when off", "{metrics: true}", metered(true, removes), "", ""},
		{"kept when off", "{metrics: true}", metered(true, forgets), "expect", "svc/sample, which comes from spec.metrics, when that is false\n"},
		{"emptied", "{metrics: {port: 80}}", metered(false, empties), "", ""},
		{"another instead", "{metrics: {port: 80}}", renamesService, "", ""},
		{"kept until the field is back", "{metrics: {port: 80}}", waitsForMetrics(true), "", ""},
		{"kept without a word", "{metrics: {port: 80}}", waitsForMetrics(false), "expect", "svc/sample, which comes from spec.metrics, when that is removed\n"},
		{"kept and reported", "{metrics: {port: 80}}", metered(false, reports), "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := subjectOf(t, reconciler("metered", gardens, living(x.idiom), services, parts))
			s.Samples = []string{sampleFile(t, strings.Replace(gardenOf(x.spec), "web", "sample", 1))}
			plan := prepared(t, s)
			shows(t, plan, x.shown)
			finds(t, plan, "removed", x.law)
		})
	}
}

// named creates a dependent with the owner's color in its name. With prunes, it deletes those of other colors. With
// tells, its status has the names of all its dependents.
func named(prunes, tells bool) idiom {
	return func(a *at, owner *thing) error {
		name := owner.GetName() + "-" + stringAt(owner, "spec", "color")
		next := a.bare(owner, name)
		if a.kind == services {
			next.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
		}
		if err := a.ensure(owner, next); err != nil {
			return err
		}
		if prunes {
			return a.pruneBut(owner, name)
		}
		if !tells {
			return nil
		}
		colors := stringAt(owner, "status", "colors")
		if strings.Contains(colors, name) {
			return nil
		}
		return a.reports(owner, "colors", colors+" "+name)
	}
}

// If an edit gives a dependent another name, the one with the old name must go.
func TestDependentsOfOldNamesGo(t *testing.T) {
	for _, x := range []struct {
		name string
		kind schema.GroupVersionKind
		idiom
		law, shown string
	}{
		{"deleted", services, named(true, false), "", ""},
		{"kept, with data", secrets, named(false, false), "", ""},
		{"kept", services, named(false, false), "expect", "keeps       svc/sample-green, which comes from spec.color, when that is greenx\n"},
		{"kept and reported", services, named(false, true), "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := subjectOf(t, reconciler("named", gardens, living(x.idiom), x.kind))
			plan := prepared(t, s)
			shows(t, plan, x.shown)
			finds(t, plan, "edit", x.law)
		})
	}
}

// trusts creates a ConfigMap with the owner's color, and records the color in its status. Then it does nothing for this
// color. With looks, it reports a missing ConfigMap. With follows, it writes the ConfigMap for another color.
func trusts(looks, follows bool) idiom {
	return func(a *at, owner *thing) error {
		color, is := stringAt(owner, "spec", "color"), a.cached(owner.GetName())
		if looks && is == nil && stringAt(owner, "status", "color") != "" {
			return a.reports(owner, "phase", "Missing")
		}
		if done := stringAt(owner, "status", "color"); done == color || done != "" && !follows {
			return nil
		}
		next := a.bare(owner, owner.GetName())
		next.Object["data"] = map[string]any{"color": color}
		if err := a.fills(owner, next); err != nil {
			return err
		}
		return a.reports(owner, "color", color)
	}
}

// givesUp creates its dependent once. If the name is taken, it reports that it has failed, and gives up.
func givesUp(a *at, owner *thing) error {
	if stringAt(owner, "status", "phase") != "" {
		return nil
	}
	d := a.dependent(owner, owner.GetName())
	switch err := a.create(d); {
	case err == nil:
		return a.reports(owner, "phase", "Started")
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	if is := a.cached(d.GetName()); is == nil || metav1.IsControlledBy(is, owner) {
		return a.reports(owner, "phase", "Started") // the answer to the creation was lost
	}
	return a.reports(owner, "phase", "Failed")
}

// A controller that creates a dependent once may give up if the name is taken.
func TestGivesUpIfTheNameIsTaken(t *testing.T) {
	why := "it creates its dependents once: it may give up if their names are taken"
	if c := caseOf(prepared(t, subjectOf(t, by(givesUp)...)), "name-taken"); c.Skip != why {
		t.Errorf("skipped: %q, want %q", c.Skip, why)
	}
}

// A dependent that follows edits must be created again, or reported as missing. One that is only created once need not.
func TestDependentsThatFollowEditsAreCreatedAgain(t *testing.T) {
	for _, x := range []struct {
		name string
		idiom
		skipped, law string
	}{
		{"trusts its status", trusts(false, true), "", "exact-sum"},
		{"reports", trusts(true, true), "creates its dependents once", ""},
		{"creates once", trusts(false, false), "creates its dependents once", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			plan := prepared(t, subjectOf(t, by(x.idiom)...))
			if c := caseOf(plan, "dependent-deleted"); c.Skip != "" || x.skipped != "" {
				if !strings.Contains(c.Skip, x.skipped) || x.skipped == "" {
					t.Errorf("skipped: %q, want %q", c.Skip, x.skipped)
				}
				return
			}
			finds(t, plan, "dependent-deleted", x.law)
		})
	}
}

// reportsGeneration sets the owner's color, and then reports the generation that it worked from in a condition. With
// newest, it reports the generation that the owner has then.
func reportsGeneration(newest bool) idiom {
	return func(a *at, owner *thing) error {
		d := a.dependent(owner, owner.GetName())
		if err := a.upsert(d, func(is *thing) error {
			is.Object["data"] = d.Object["data"]
			return mine(owner, is)
		}); err != nil {
			return err
		}
		now, err := a.live(gardens, owner.GetNamespace(), owner.GetName())
		if err != nil || now == nil || now.GetUID() != owner.GetUID() {
			return err
		}
		generation := owner.GetGeneration()
		if newest {
			generation = now.GetGeneration()
		}
		return a.reports(now, "conditions", []any{map[string]any{"type": "Ready", "status": "True", "observedGeneration": generation}})
	}
}

// A status must not report a generation that the controller has not worked from.
func TestObservedGeneration(t *testing.T) {
	finds(t, plannedFor(t, reportsGeneration(false), "{color: green}"), "edit", "")
	finds(t, plannedFor(t, reportsGeneration(true), "{color: green}"), "edit", "observed-generation")
}
