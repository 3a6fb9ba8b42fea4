package wrongoperators_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

const anchor = "example.com/anchor"

// wrongEnds contains operators that never stop, or stop in a wrong state.
var wrongEnds = []wrong{{
	name: "keeps its finalizer after the clean-up failed once", law: "EXACT-6",
	says: []string{"fleet/a stays terminating, held by example.com/anchor alone", "delete"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: ["+anchor+"]")),
		Faults: map[string]int{"error": 1},
		Controllers: []host.Controller{holding(operates("fleet", ships, doing{
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
				return o.merge(fleets, f.GetName(), map[string]any{"metadata": map[string]any{"finalizers": nil}}, "")
			},
		}))}, SettleFirst: true, User: user("delete fleet/a")},
}, {
	name: "panics if a list is empty", law: "EXACT-7b",
	says: []string{"index out of range", "fleet/a"},
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
}, {
	name: "gives up at a full quota", law: "NOFIGHT-3",
	says: []string{"fleet/a wants 4, owns 2"},
	run:  growing(func(*operator, metav1.Object, error) error { return nil }),
}, {
	name: "retries at once at a full quota", law: "EXACT-7",
	says: []string{"exceeded quota: room", "fleet/a"},
	run: growing(func(o *operator, f metav1.Object, _ error) error {
		o.env.Queue.Add(keyOf(f))
		return nil
	}),
}}

// holding adds the operator's finalizer to the Contract.
func holding(c host.Controller) host.Controller {
	c.Contract.Finalizers = []string{anchor}
	return c
}

const room = `apiVersion: v1
kind: ResourceQuota
metadata: {name: room}
spec: {hard: {count/configmaps: "2"}}
`

// growing returns a case in which the quota is too small for a growing fleet, until the user raises it.
func growing(refused func(o *operator, f metav1.Object, err error) error) simtest.Case {
	return simtest.Case{World: world(room, fleet("a", 1, "north")), With: []string{"resourcequota"}, SettleFirst: true,
		Schedules: 20,
		User: user("patch fleet/a type=merge '{spec: {replicas: 4}}'", "settle",
			"patch quota/room type=merge '{spec: {hard: {count/configmaps: \"9\"}}}'"),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for i := len(o.owned(f)); i < wanted(f); i++ {
				if err := o.create(o.made(f, fmt.Sprintf("a-%d", i))); apierrors.IsForbidden(err) {
					return refused(o, f, err)
				} else if err != nil {
					return err
				}
			}
			return nil
		})}}
}

// A right controller retries with backoff. It counts as settled while the quota is used up, and continues when the
// quota is raised.
func TestRetriesAtAFullQuota(t *testing.T) {
	c := growing(func(_ *operator, _ metav1.Object, err error) error { return err })
	c.Faults, c.Schedules = map[string]int{"crash": 1, "conflict": 1, "error": 1}, 100
	simtest.Check(t, c)
}

// wrongIdentities contains operators that confuse an object with another, or with an earlier object of the same name.
var wrongIdentities = []wrong{{
	name: "numbers its members by their count", law: "EXACT-3",
	says: []string{"is 1 of fleet/a, as cm/"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), SettleFirst: true,
		Controllers: []host.Controller{numbered(fleeting(func(o *operator, f metav1.Object) error {
			for i := len(o.owned(f)); i < wanted(f); i++ {
				if o.seen[fmt.Sprint(f.GetGeneration(), len(o.owned(f)), i)] != "" {
					continue // already created
				}
				m := o.made(f, "a-").(*corev1.ConfigMap)
				m.Data["number"] = fmt.Sprint(i)
				if err := o.create(m); err != nil {
					return err
				}
				o.seen[fmt.Sprint(f.GetGeneration(), len(o.owned(f)), i)] = "made"
			}
			return nil
		}))}, User: user("delete cm/a-1")},
}, {
	name: "deletes by name what it has recreated", law: "EXACT-4",
	says: []string{"delete meant for an earlier ConfigMap of that name"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			if m, ok, _ := o.members.GetByKey("default/a-0"); ok {
				if m.(*corev1.ConfigMap).Data["color"] == field(f, "color") {
					return nil
				}
				err := o.client.Delete(context.Background(), ships, "default", "a-0", metav1.DeleteOptions{})
				if err != nil && !apierrors.IsNotFound(err) {
					return err
				}
			}
			return o.create(o.made(f, "a-0"))
		}))}, User: user("patch fleet/a type=merge '{spec: {color: red}}'", "label fleet/a tier=front")},
}, {
	name: "starts from an older list and deletes what it has created since", law: "EXACT-5",
	says: []string{"delete", "shown a newer one before a restart"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Faults: map[string]int{"stale": 1}, Strict: true,
		SettleFirst: true, Schedules: 200,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			m, ok, _ := o.members.GetByKey("default/a-0")
			if !ok {
				return o.create(o.made(f, "a-0"))
			}
			if old := m.(*corev1.ConfigMap); old.Data["color"] != field(f, "color") {
				return o.remove(old)
			}
			return nil
		}))}, User: user("patch cm/a-0 type=merge '{data: {color: blue}}'",
			"patch fleet/a type=merge '{spec: {color: blue}}'")},
}}

// numbered declares that the number of a ship identifies it.
func numbered(c host.Controller) host.Controller {
	c.Contract.Replicas = nil
	c.Contract.Identity = func(m runtime.Object) string { return m.(*corev1.ConfigMap).Data["number"] }
	return c
}
