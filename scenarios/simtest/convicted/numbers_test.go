package convicted_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrongNumbers create too many or too few, or report a wrong number.
var wrongNumbers = []wrong{{
	name: "remembers what it deleted and counts it all the same", law: "EXACT-1",
	tell: []string{"leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), Settled: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			own := o.owned(f)
			for i := len(own); i < wanted(f); i++ {
				if err := o.create(o.made(f, fmt.Sprintf("a-%d", i))); err != nil {
					return err
				}
			}
			for _, m := range own {
				if len(own) > wanted(f) && o.seen[m.GetName()] == "" {
					o.seen[m.GetName()] = "deleted"
					return o.remove(m)
				}
			}
			return nil
		})}, User: user("patch fleet/a type=merge '{spec: {replicas: 1}}'", "annotate fleet/a note=x")},
}, {
	name: "counts those that are going and deletes another", law: "EXACT-1",
	tell: []string{"leaves rs/a with 0, it wants 1", "delete"},
	run: simtest.Case{World: replicaSet("a", 2, "web"), Settled: true,
		Controllers: []host.Controller{
			operates("sets", replicaSets, pods, doing{sync: func(o *operator, f metav1.Object) error {
				own := o.owned(f)
				if len(own) < wanted(f) {
					m := o.made(f, fmt.Sprintf("a-%d", len(own)))
					m.SetFinalizers([]string{"example.com/drain"})
					return o.create(m)
				}
				for _, m := range own {
					if len(own) > wanted(f) && m.GetDeletionTimestamp() == nil {
						return o.remove(m)
					}
				}
				return nil
			}})}, User: user("scale rs/a replicas=1")},
}, {
	name: "counts in a cache that lags", law: "EXACT-2",
	tell: []string{"brings rs/a to 2, it wants 1"},
	run: simtest.Case{World: replicaSet("a", 1, "web"),
		Controllers: []host.Controller{
			operates("sets", replicaSets, pods, doing{sync: func(o *operator, f metav1.Object) error {
				for range wanted(f) - len(o.owned(f)) {
					if err := o.create(o.made(f, "a-")); err != nil {
						return err
					}
				}
				return nil
			}})}, User: user("label rs/a tier=front")},
}, {
	name: "creates until its cache shows them", law: "EXACT-2",
	tell: []string{"brings fleet/a to 2, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for len(o.owned(f)) < wanted(f) {
				if err := o.create(o.made(f, "a-")); err != nil {
					return err
				}
			}
			return nil
		})}},
}, {
	name: "knows what it made by its status alone", law: "EXACT-2",
	tell: []string{"brings fleet/a to 2, it wants 1", "500"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Faults: map[string]int{"error": 1},
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if counted(f.(runtime.Object)) >= wanted(f) {
				return nil
			}
			if err := o.create(o.made(f, "a-")); err != nil {
				return err
			}
			return o.reports(f, "replicas", wanted(f))
		})}},
}, {
	name: "counts what the cache shows before its own create", law: "EXACT-8",
	tell: []string{"status fleet/a status: none -> {\"ready\":0}", "ready of fleet/a is 0, there are 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{exact(fleeting(func(o *operator, f metav1.Object) error {
			n, found, _ := unstructuredInt(f, "status", "ready")
			if !found || n > len(o.owned(f)) {
				n = 0 // until the cache shows something
			}
			if err := o.keeps(f); err != nil {
				return err
			}
			return o.reports(f, "ready", n)
		}))}},
}, {
	name: "writes its status only when the spec has changed", law: "EXACT-8",
	tell: []string{"ready of fleet/a is 0, there are 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{exact(fleeting(func(o *operator, f metav1.Object) error {
			if err := o.keeps(f); err != nil {
				return err
			}
			if version := fmt.Sprint(f.GetGeneration()); o.seen[f.GetName()] != version {
				if err := o.reports(f, "ready", len(o.owned(f))); err != nil {
					return err
				}
				o.seen[f.GetName()] = version
			}
			return nil
		}))}},
}}

// exact declares which number of a fleet's status counts its ships.
func exact(c host.Controller) host.Controller {
	c.Contract.Counts = []law.Count{{
		Name: "ready",
		Of: func(owner runtime.Object) int {
			if n, found, _ := unstructuredInt(owner.(metav1.Object), "status", "ready"); found {
				return n
			}
			return -1
		},
		Is: func(_, m runtime.Object) bool { return m.(*corev1.ConfigMap).DeletionTimestamp == nil },
	}}
	return c
}
