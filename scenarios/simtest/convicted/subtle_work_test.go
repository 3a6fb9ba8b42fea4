package convicted_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// subtleWork does too much, too little, or the wrong thing to its own objects.
var subtleWork = []wrong{{
	name: "reports the numbers of its last sync", law: "EXACT-8",
	tell: []string{"ready is 1, it has been shown 2", "status"},
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
	name: "forgets the ship of its former name", law: "EXACT-2",
	tell: []string{"brings fleet/a to 2, it wants 1", "spec.flagship"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Settled: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			name := f.GetName() + "-" + field(f, "flagship") + "x"
			if o.has(name) {
				return nil
			}
			return o.create(o.made(f, name))
		})}, User: user("patch fleet/a type=merge '{spec: {flagship: victory}}'")},
}, {
	name: "creates again where the answer was lost", law: "EXACT-2",
	tell: []string{"response lost", "brings fleet/a to 2, it wants 1"},
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
	name: "forgets one that it was shown twice", law: "EXACT-1",
	tell: []string{"leaves fleet/a with 1, it wants 2"},
	run: simtest.Case{World: world(fleet("a", 3, "north")), Settled: true,
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
	name: "replaces what has changed before the new one is there", law: "EXACT-1",
	tell: []string{"leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Settled: true,
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
	name: "lists live and then acts by what its cache said before", law: "EXACT-1",
	tell: []string{"leaves rs/a with 0, it wants 1"},
	run: simtest.Case{World: replicaSet("a", 2, "web"), Settled: true,
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
	name: "works on one owner by two keys at once", law: "NOFIGHT-3",
	tell: []string{"fleet/a wants 1, owns 2"},
	run:  simtest.Case{World: world(fleet("a", 1, "north")), Controllers: []host.Controller{twoKeys()}},
}}

// twoKeys is an operator with two keys for one fleet, which it reconciles concurrently.
func twoKeys() host.Controller {
	c := operates("fleet", fleets, ships, doing{sync: func(*operator, metav1.Object) error { return nil }})
	c.Workers = 2
	c.New = func(env *host.Env) host.Reconciler {
		o := &operator{client: env.Client, env: env, owner: fleets, member: ships, seen: map[string]string{},
			owners: env.Informer(fleets).GetIndexer(), members: env.Informer(ships).GetIndexer()}
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
