package wrongoperators_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

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
