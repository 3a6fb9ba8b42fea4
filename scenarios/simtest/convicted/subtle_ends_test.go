package convicted_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

func asObject(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: data}
}

// subtleEnds mishandle the end of an object.
var subtleEnds = []wrong{{
	name: "makes its members anew while the collector takes them away", law: "ADOPT-3",
	tell: []string{"create", "known to be going"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), With: []string{"gc"}, Settled: true, Schedules: 50,
		Controllers: []host.Controller{
			unclaimed(operates("fleet", fleets, ships, doing{sync: (*operator).keeps, dying: (*operator).keeps}))},
		User: user("delete fleet/a --cascade=foreground")},
}, {
	name: "puts its finalizer back on what is being deleted", law: "EXACT-7",
	tell: []string{"finalizers", "again and again"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: [example.com/pier]")), Settled: true,
		Schedules: 1,
		Controllers: []host.Controller{holding(operates("fleet", fleets, ships, doing{sync: (*operator).keeps,
			dying: func(o *operator, f metav1.Object) error {
				return o.merge(fleets, f.GetName(), finalizers(append(f.GetFinalizers(), anchor)...), "")
			}}))},
		User: user("delete fleet/a")},
}, {
	name: "waits for another's finalizer, that waits for its own", law: "EXACT-6",
	tell: []string{"fleet/a stays terminating, held by example.com/anchor and example.com/pier alone"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: [example.com/anchor, example.com/pier]")),
		Settled:     true,
		Controllers: []host.Controller{lastOff("first", "example.com/anchor"), lastOff("second", "example.com/pier")},
		User:        user("delete fleet/a")},
}, {
	name: "makes a deleted member anew for an owner that is gone", law: "LAW-1",
	tell: []string{"created for fleet/a, which is gone"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), With: []string{"gc"}, Settled: true, Schedules: 30,
		Controllers: []host.Controller{unclaimed(operates("fleet", fleets, ships, doing{
			sync: func(o *operator, f metav1.Object) error {
				o.seen[f.GetName()] = string(f.GetUID())
				return o.keeps(f)
			},
			gone: func(o *operator, name string) error {
				if o.seen[name] == "" || o.has(name+"-0") {
					return nil
				}
				f := asObject(
					map[string]any{"apiVersion": "example.com/v1", "kind": "Fleet",
						"metadata": map[string]any{"name": name, "namespace": "default", "uid": o.seen[name]}})
				return o.create(o.made(f, name+"-0"))
			}}))},
		User: user("delete fleet/a")},
}, {
	name: "takes its finalizer off by clearing the list", law: "FIN-1",
	tell: []string{"another's finalizer orphan taken off"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: [example.com/anchor]")), Settled: true,
		Controllers: []host.Controller{holding(operates("fleet", fleets, ships, doing{sync: (*operator).keeps,
			dying: func(o *operator, f metav1.Object) error {
				if err := o.merge(fleets, f.GetName(), finalizers(), ""); err != nil {
					return err
				}
				for _, m := range o.owned(f) {
					if err := o.remove(m); err != nil {
						return err
					}
				}
				return nil
			}}))},
		User: user("delete fleet/a --cascade=orphan")},
}, {
	name: "throws everything away every ten minutes and makes it anew", law: "EXACT-1",
	tell: []string{"leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Schedules: 20,
		Controllers: []host.Controller{refitting(want)}},
}, {
	name: "throws everything away every ten minutes, and does not say what is wanted", law: "NOFIGHT-1",
	tell: []string{"delete", "create", "recurs"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Schedules: 20,
		Controllers: []host.Controller{refitting(nil)}},
}}

// lastOff is an operator that removes its finalizer when it is the only one left.
func lastOff(name, finalizer string) host.Controller {
	c := operates(name, fleets, ships,
		doing{sync: func(*operator, metav1.Object) error { return nil },
			dying: func(o *operator, f metav1.Object) error {
				if list := f.GetFinalizers(); len(list) != 1 || list[0] != finalizer {
					return nil
				}
				return o.merge(fleets, f.GetName(), finalizers(), "")
			}})
	c.Contract.Replicas, c.Owns = nil, nil
	c.Contract.Finalizers = []string{finalizer}
	return c
}

// refitting deletes all ships of a fleet and recreates them.
func refitting(want func(runtime.Object) int) host.Controller {
	c := fleeting(func(o *operator, f metav1.Object) error {
		now := o.env.Now().Truncate(10 * time.Minute).String()
		if was := o.seen[f.GetName()]; was != "" && was != now {
			for _, m := range o.owned(f) {
				if err := o.remove(m); err != nil {
					return err
				}
			}
		}
		o.seen[f.GetName()] = now
		o.env.Queue.AddAfter(keyOf(f), 10*time.Minute)
		return o.keeps(f)
	})
	c.Contract.Replicas = want
	return c
}
