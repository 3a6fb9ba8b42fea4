package convicted_test

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

const anchor = "example.com/anchor"

// wrongEnds never stop, or stop in a wrong state.
var wrongEnds = []wrong{{
	name: "leaves its finalizer where the clean-up failed once", law: "EXACT-6",
	tell: []string{"fleet/a stays terminating, held by example.com/anchor alone", "delete"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: ["+anchor+"]")),
		Faults: map[string]int{"error": 1},
		Controllers: []host.Controller{holding(operates("fleet", fleets, ships, doing{
			sync: (*operator).keeps,
			dying: func(o *operator, f metav1.Object) error {
				if o.seen[f.GetName()] != "" || !slices.Contains(f.GetFinalizers(), anchor) {
					return nil // done, or in progress
				}
				o.seen[f.GetName()] = "cleaned up"
				for _, m := range o.owned(f) {
					if err := o.remove(m); err != nil {
						return err
					}
				}
				return o.merge(fleets, f.GetName(), finalizers(), "")
			},
		}))}, Settled: true, User: user("delete fleet/a")},
}, {
	name: "fails for ever on a name that is taken", law: "EXACT-7",
	tell: []string{"already exists", "fleet"},
	run: simtest.Case{World: world(fleet("a", 0, "north"), ship("a-0", "south")), Schedules: 1,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			if len(o.owned(f)) > 0 {
				return nil
			}
			_, err := o.client.Create(context.Background(), o.made(f, "a-0").(runtime.Object))
			return err
		}))}},
}, {
	name: "puts its key back at once until it is ready", law: "EXACT-7",
	tell: []string{"fleet"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Schedules: 1,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if err := o.keeps(f); err != nil {
				return err
			}
			if len(o.owned(f)) == 0 || o.owned(f)[0].GetAnnotations()["ready"] == "" { // nobody confirms it here
				o.env.Queue.Add(keyOf(f))
			}
			return nil
		})}},
}, {
	name: "panics where a list is empty", law: "EXACT-7b",
	tell: []string{"index out of range", "fleet/a"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if err := o.keeps(f); err != nil {
				return err
			}
			if first := o.owned(f)[0].GetName(); field(f, "flagship") != first {
				return o.merge(fleets, f.GetName(), map[string]any{"spec": map[string]any{"flagship": first}}, "")
			}
			return nil
		})}},
}}

// holding declares the operator's finalizer.
func holding(c host.Controller) host.Controller {
	c.Contract.Finalizers = []string{anchor}
	return c
}

// unstructuredInt reads a number of a fleet.
func unstructuredInt(f metav1.Object, fields ...string) (int, bool, error) {
	n, found, err := unstructured.NestedInt64(f.(*unstructured.Unstructured).Object, fields...)
	return int(n), found, err
}
