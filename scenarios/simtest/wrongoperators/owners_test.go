package wrongoperators_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// wrongOwners contains operators that change objects of other owners.
var wrongOwners = []wrong{{
	name: "sets the owner in a second request", law: "LAW-1",
	says: []string{"create", "created without a ControllerRef"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if o.has("a-0") {
				return nil
			}
			m := o.made(f, "a-0")
			own := m.GetOwnerReferences()
			m.SetOwnerReferences(nil)
			if err := o.create(m); err != nil {
				return err
			}
			return o.merge(ships, "a-0", refs(own...), "")
		})}},
}, {
	name: "claims by replacing the list of owners", law: "LAW-1b",
	says: []string{"taken from fleet/b by fleet/a"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("b", 1, "south")),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if err := o.keeps(f); err != nil {
				return err
			}
			for _, m := range o.all(f) { // it takes all objects with the label
				if !metav1.IsControlledBy(m, f) {
					if err := o.merge(ships, m.GetName(), refs(*metav1.NewControllerRef(f, fleets)), ""); err != nil {
						return err
					}
				}
			}
			return nil
		})}, User: user("label cm/b-0 sea=north")},
}, {
	name: "scales by the label, and deletes members of others", law: "LAW-2",
	says: []string{"delete", "owned by fleet/b"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("b", 1, "north")),
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.all(f) {
				if len(o.owned(f)) > 0 && !metav1.IsControlledBy(m, f) {
					return o.remove(m)
				}
			}
			return o.keeps(f)
		}))}},
}, {
	name: "counts by the label in its status", law: "LAW-3",
	says: []string{"counts 2 in its status", "status"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("b", 1, "north")),
		Controllers: []host.Controller{counting(fleeting(func(o *operator, f metav1.Object) error {
			if err := o.keeps(f); err != nil {
				return err
			}
			c := f.(runtime.Object).DeepCopyObject()
			return o.reports(c.(metav1.Object), "replicas", len(o.all(f)))
		}))}},
}, {
	name: "two operators write one field", law: "NOFIGHT-1",
	says: []string{"blue", "red", "state recurs"},
	run: simtest.Case{World: world(fleet("a", 0, "north"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: chart, labels: {sea: north}}\n"),
		Controllers: []host.Controller{paints("red"), paints("blue")}, Schedules: 30},
}, {
	name: "writes a count that wakes it up", law: "NOFIGHT-1",
	says: []string{"status fleet/a ready: 1248 -> 1249", "goes on"},
	run: simtest.Case{World: world(fleet("a", 0, "north")), Schedules: 1,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			n, _ := number(f, "status", "ready")
			return o.reports(f, "ready", n+1) // this counts reconciles
		})}},
}}

// counting declares what the status counts.
func counting(c host.Controller) host.Controller {
	c.Contract.Counted, c.Contract.Selector = counted, selector
	return c
}

// unclaimed removes the declaration of the wanted state.
func unclaimed(c host.Controller) host.Controller {
	c.Contract.Replicas = nil
	return c
}

// paints returns an operator that sets the color of a ConfigMap, the chart of its sea. The chart has no owner.
func paints(color string) host.Controller {
	c := operates(color, ships, doing{sync: func(o *operator, f metav1.Object) error {
		for _, m := range o.all(f) {
			if chart := m.(*corev1.ConfigMap); chart.Data["color"] != color {
				chart = chart.DeepCopy()
				chart.Data = map[string]string{"color": color}
				if _, err := o.client.Update(context.Background(), chart); err != nil {
					return err
				}
			}
		}
		return nil
	}})
	c.Owns = nil
	return c
}
