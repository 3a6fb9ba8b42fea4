package wrongoperators_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrongNumbers create too many or too few, or report a wrong number.
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
	name: "counts terminating members and deletes another", law: "EXACT-1",
	says: []string{"leaves rs/a with 0, it wants 1", "delete"},
	run: simtest.Case{World: replicaSet("a", 2, "web"), SettleFirst: true,
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
	says: []string{"brings rs/a to 2, it wants 1"},
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
	says: []string{"brings fleet/a to 2, it wants 1"},
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
	says: []string{"status fleet/a status: none -> {\"ready\":0}", "ready of fleet/a is 0, there are 1"},
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
	name: "writes its status only when the spec has changed", law: "EXACT-8",
	says: []string{"ready of fleet/a is 0, there are 1"},
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
			if n, found := number(owner.(metav1.Object), "status", "ready"); found {
				return n
			}
			return -1
		},
		Is: func(_, m runtime.Object) bool { return m.(*corev1.ConfigMap).DeletionTimestamp == nil },
	}}
	return c
}

// subtleWork does too much, too little, or the wrong thing to its own objects.
var subtleWork = []wrong{{
	name: "reports the numbers of its last sync", law: "EXACT-8",
	says: []string{"ready is 1, it has been shown 2", "status"},
	run: simtest.Case{World: world(fleet("a", 2, "north")),
		Controllers: []host.Controller{exact(fleeting(func(o *operator, f metav1.Object) error {
			if err := o.keeps(f); err != nil {
				return err
			}
			was := o.seen[f.GetName()]
			o.seen[f.GetName()] = fmt.Sprint(len(o.owned(f)))
			if was == "" || was == "0" {
				return nil
			}
			var n int
			fmt.Sscan(was, &n)
			return o.reports(f, "ready", n)
		}))}},
}, {
	name: "leaves the ship of a former name behind", law: "EXACT-2",
	says: []string{"brings fleet/a to 2, it wants 1", "spec.flagship"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			name := f.GetName() + "-" + field(f, "flagship") + "x"
			if o.has(name) {
				return nil
			}
			return o.create(o.made(f, name))
		})}, User: user("patch fleet/a type=merge '{spec: {flagship: victory}}'")},
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
	name: "deletes one too many", law: "EXACT-1",
	says: []string{"leaves fleet/a with 1, it wants 2"},
	run: simtest.Case{World: world(fleet("a", 3, "north")), SettleFirst: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			own := o.owned(f)
			for i := len(own); i < wanted(f); i++ {
				if err := o.create(o.made(f, fmt.Sprintf("a-%d", i))); err != nil {
					return err
				}
			}
			if len(own) > wanted(f) {
				for _, m := range own[wanted(f)-1:] { // one too many
					if err := o.remove(m); err != nil {
						return err
					}
				}
			}
			return nil
		})}, User: user("patch fleet/a type=merge '{spec: {replicas: 2}}'")},
}, {
	name: "deletes a changed member before its replacement exists", law: "EXACT-1",
	says: []string{"leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.(*corev1.ConfigMap).Data["color"] != field(f, "color") {
					if err := o.remove(m); err != nil {
						return err
					}
				}
			}
			return o.keeps(f)
		})}, User: user("patch fleet/a type=merge '{spec: {color: red}}'")},
}, {
	name: "lists live, and then acts by its older cache", law: "EXACT-1",
	says: []string{"leaves rs/a with 0, it wants 1"},
	run: simtest.Case{World: replicaSet("a", 2, "web"), SettleFirst: true,
		Controllers: []host.Controller{
			operates("sets", replicaSets, pods, doing{sync: func(o *operator, f metav1.Object) error {
				own := o.owned(f)
				// for a metric
				if _, err := o.client.List(context.Background(), pods, "default", metav1.ListOptions{}); err != nil {
					return err
				}
				for i := len(own); i < wanted(f); i++ {
					if err := o.create(o.made(f, fmt.Sprintf("a-%d", i))); err != nil {
						return err
					}
				}
				for i, m := range own {
					if len(own) > wanted(f) && (i == 0) == (f.GetLabels()["last"] == "") {
						return o.removeName(m.GetName(), metav1.DeleteOptions{})
					}
				}
				return nil
			}})}, User: user("scale rs/a replicas=1", "label rs/a last=yes")},
}, {
	name: "reconciles one owner by two keys at once", law: "NOFIGHT-3",
	says: []string{"fleet/a wants 1, owns 2"},
	run:  simtest.Case{World: world(fleet("a", 1, "north")), Controllers: []host.Controller{twoKeys()}},
}}

// twoKeys is an operator with two keys for one fleet, which it reconciles concurrently.
func twoKeys() host.Controller {
	c := operates("fleet", fleets, ships, doing{sync: func(*operator, metav1.Object) error { return nil }})
	c.Workers = 2
	c.New = func(env *host.Env) host.Reconciler {
		o := begin(env, fleets, ships)
		return host.SyncFunc(func(_ context.Context, key string) error {
			x, ok, _ := o.owners.GetByKey(strings.TrimSuffix(key, ".again"))
			if !ok || len(o.owned(x.(metav1.Object))) >= wanted(x.(metav1.Object)) {
				return nil
			}
			return o.create(o.made(x.(metav1.Object), "a-"))
		})
	}
	routes := c.Routes
	c.Routes = append([]host.Route{{Kind: fleets, Do: func(_ host.View, e host.Event, out *host.Effect) {
		out.Keys = append(out.Keys, keyOf(either(e))+".again")
	}}}, routes...)
	return c
}

var secrets = corev1.SchemeGroupVersion.WithKind("Secret")

// second is a second operator on fleets. It should keep two Secrets for each, and creates this many.
func second(makes int) host.Controller {
	c := operates("second", fleets, secrets, doing{sync: func(o *operator, f metav1.Object) error {
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

// manned is a world in which a second, right operator works on the kind.
func manned(c host.Controller) simtest.Case {
	return simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting((*operator).keeps), c}}
}

// wrongPartners work on a kind that another operator also works on.
var wrongPartners = []wrong{{
	name: "creates too few of its own part", law: "NOFIGHT-3", says: []string{"fleet/a wants 2, owns 1"},
	run: manned(second(1)),
}}
