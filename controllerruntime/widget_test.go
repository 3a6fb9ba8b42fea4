package controllerruntime_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/controllerruntime/internal/widget"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

func controllers(t testing.TB, s *runtime.Scheme, setup controllerruntime.Setup,
	o controllerruntime.Options) []host.Controller {
	t.Helper()
	all, err := controllerruntime.Controllers(s, setup, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// operator is the operator of package widget, with its Contract.
func operator(t testing.TB, without widget.Without) host.Controller {
	t.Helper()
	c := controllers(t, widget.Scheme(), widget.Setup(without), controllerruntime.Options{})[0]
	c.Contract.Replicas = controllerruntime.Of(func(w *widget.Widget) int { return int(w.Spec.Replicas) })
	c.Contract.Selector = controllerruntime.Of(func(w *widget.Widget) labels.Selector {
		return labels.SelectorFromSet(labels.Set{widget.Label: w.Name})
	})
	c.Contract.Finalizers = []string{widget.Finalizer}
	c.Contract.Counted = controllerruntime.Of(func(w *widget.Widget) int { return int(w.Status.Ready) })
	return c
}

const widgets = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, namespace: default}
spec: {replicas: 2, source: text}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b, namespace: default}
spec: {replicas: 1}
---
apiVersion: v1
kind: Secret
metadata: {name: text, namespace: default}
stringData: {text: hello}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: orphan, namespace: default, labels: {widget: a}}
`

var faults = map[string]int{"crash": 1, "lost": 1, "conflict": 1, "relist": 1, "resync": 1, "stale": 1, "error": 1}

// world returns a case with two Widgets that a user scales, orphans, deletes and recreates.
func world(c host.Controller) simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{c}, With: []string{"gc"}, SettleFirst: true,
		World: widget.Definition + "---" + widgets,
		User: []simtest.Action{
			simtest.Verb("scale widget/a replicas=3"),
			simtest.Verb("label cm/orphan widget=b"),
			simtest.Do("another-orphan", another),
			simtest.Verb("delete widget/b --cascade=orphan"),
			simtest.Verb("scale widget/a replicas=1"),
			simtest.Verb("delete widget/a"),
			simtest.Do("again", again),
		},
		Faults: faults, Schedules: 1500,
	}
}

func another(user host.Client) error {
	_, err := user.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "another", Labels: map[string]string{widget.Label: "b"}}})
	return err
}

func again(user host.Client) error {
	_, err := user.Create(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "default",
			"name": "a"},
		"spec": map[string]any{"replicas": int64(1)}}})
	if apierrors.IsAlreadyExists(err) {
		return nil // it still exists
	}
	return err
}

func TestRightOperatorKeepsTheLaws(t *testing.T) {
	simtest.Check(t, world(operator(t, widget.Without{})))
}

// planted lists operators without a guard. Each row has the user actions that expose the bug, and the violated law.
var planted = []struct {
	name    string
	without widget.Without
	user    []simtest.Action
	law     string
}{
	{"creates without a controller reference", widget.Without{Reference: true}, nil, "take-ownership"},
	{"adopts again what was orphaned", widget.Without{Recheck: true},
		[]simtest.Action{simtest.Verb("hold widget sees=Widget"), simtest.Verb("delete widget/b --cascade=orphan")},
		"status-only-when-terminating"},
	{"takes objects of a deleted Widget of the same name", widget.Without{UID: true},
		[]simtest.Action{simtest.Verb("delete widget/a"), simtest.Do("again", again)}, "recreated-is-another"},
}

// The law of a missing guard finds it. In the same worlds, the operator with all guards violates no law.
func TestPlantedBugsAreFound(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			for _, without := range []widget.Without{p.without, {}} {
				c := world(operator(t, without))
				c.User, c.Schedules, c.Faults = p.user, 100, nil
				c.Strict = without.Recheck // its watch is paused, so only a request could have shown the change
				x, err := c.Explore(t.Context(), "planted")
				if err != nil {
					t.Fatal(err)
				}
				var found []string
				for _, f := range x.Failures {
					found = append(found, f.Law)
				}
				if right := without == (widget.Without{}); right && len(found) > 0 || !right && !slices.Contains(found, p.law) {
					t.Errorf("%+v: found %v, want %s if a guard is missing\n%s", without, found, p.law, x.Text())
				}
			}
		})
	}
}
