package wrongoperators_test

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrongNumbers contains operators that create too many or too few objects, or report a wrong number.
var wrongNumbers = []wrong{{
	name: "remembers what it deleted, and counts it", law: "EXACT-1",
	says: []string{"leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), SettleFirst: true,
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
	name: "trusts its status to know what it created", law: "EXACT-2",
	says: []string{"brings fleet/a to 2, it wants 1", "500"},
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
	says: []string{"status fleet/a ready: none -> 0", "ready of fleet/a is 0, there are 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{exact(fleeting(func(o *operator, f metav1.Object) error {
			n, found := number(f, "status", "ready")
			if !found || n > len(o.owned(f)) {
				n = 0 // until the cache shows something
			}
			if err := o.keeps(f); err != nil {
				return err
			}
			return o.reports(f, "ready", n)
		}))}},
}, {
	name: "creates again after a lost answer", law: "EXACT-2",
	says: []string{"response lost", "brings fleet/a to 2, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Faults: map[string]int{"lost": 1}, Strict: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if len(o.owned(f)) >= wanted(f) || o.seen[f.GetName()] != "" {
				return nil
			}
			err := o.create(o.made(f, "a-"))
			if err != nil && strings.Contains(err.Error(), "timeout") {
				err = o.create(o.made(f, "a-"))
			}
			if err == nil {
				o.seen[f.GetName()] = "made"
			}
			return err
		})}},
}, {
	name: "creates too few of its own part", law: "NOFIGHT-3", says: []string{"fleet/a wants 2, owns 1"},
	run: manned(second(1)),
}}

// exact declares which number in a fleet's status counts its ships.
func exact(c host.Controller) host.Controller {
	c.Contract.Counts = []law.Count{{
		Name: "ready",
		Of: func(owner runtime.Object) int {
			if n, found := number(owner.(metav1.Object), "status", "ready"); found {
				return n
			}
			return -1
		},
		Is: func(_, m runtime.Object) bool { return m.(*corev1.ConfigMap).DeletionTimestamp == nil },
	}}
	return c
}

var secrets = corev1.SchemeGroupVersion.WithKind("Secret")

// second returns a second operator for fleets. It creates the given number of Secrets for each fleet; the right number
// is two.
func second(makes int) host.Controller {
	c := operates("second", secrets, doing{sync: func(o *operator, f metav1.Object) error {
		for i := range makes {
			name := fmt.Sprintf("%s-second-%d", f.GetName(), i)
			if o.has(name) {
				continue
			}
			if err := o.create(&corev1.Secret{ObjectMeta: o.made(f, name).(*corev1.ConfigMap).ObjectMeta}); err != nil {
				return err
			}
		}
		return nil
	}})
	c.Contract.Replicas = func(runtime.Object) int { return 2 }
	return c
}

// manned returns a case in which a right operator for the same kind also runs.
func manned(c host.Controller) simtest.Case {
	return simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting((*operator).keeps), c}}
}
