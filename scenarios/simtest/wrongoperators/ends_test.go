package wrongoperators_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

const anchor = "example.com/anchor"

// wrongEnds never stop, or stop in a wrong state.
var wrongEnds = []wrong{{
	name: "keeps its finalizer after the clean-up failed once", law: "EXACT-6",
	says: []string{"fleet/a stays terminating, held by example.com/anchor alone", "delete"},
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
		}))}, SettleFirst: true, User: user("delete fleet/a")},
}, {
	name: "retries for ever a name that is taken", law: "EXACT-7",
	says: []string{"already exists", "fleet"},
	run: simtest.Case{World: world(fleet("a", 0, "north"), ship("a-0", "south")), Schedules: 1,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			if len(o.owned(f)) > 0 {
				return nil
			}
			_, err := o.client.Create(context.Background(), o.made(f, "a-0").(runtime.Object))
			return err
		}))}},
}, {
	name: "requeues its key at once until it is ready", law: "EXACT-7",
	says: []string{"fleet"},
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
}}

// holding declares the operator's finalizer.
func holding(c host.Controller) host.Controller {
	c.Contract.Finalizers = []string{anchor}
	return c
}

func asObject(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: data}
}

// subtleEnds mishandle the end of an object.
var subtleEnds = []wrong{{
	name: "recreates its members while the garbage collector deletes them", law: "ADOPT-3",
	says: []string{"create", "known to be going"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), With: []string{"gc"}, SettleFirst: true, Schedules: 50,
		Controllers: []host.Controller{
			unclaimed(operates("fleet", fleets, ships, doing{sync: (*operator).keeps, dying: (*operator).keeps}))},
		User: user("delete fleet/a --cascade=foreground")},
}, {
	name: "adds its finalizer to an owner that is being deleted", law: "EXACT-7",
	says: []string{"finalizers", "again and again"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: [example.com/pier]")), SettleFirst: true,
		Schedules: 1,
		Controllers: []host.Controller{holding(operates("fleet", fleets, ships, doing{sync: (*operator).keeps,
			dying: func(o *operator, f metav1.Object) error {
				return o.merge(fleets, f.GetName(), finalizers(append(f.GetFinalizers(), anchor)...), "")
			}}))},
		User: user("delete fleet/a")},
}, {
	name: "waits for another's finalizer, which waits for its own", law: "EXACT-6",
	says: []string{"fleet/a stays terminating, held by example.com/anchor and example.com/pier alone"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: [example.com/anchor, example.com/pier]")),
		SettleFirst: true,
		Controllers: []host.Controller{lastOff("first", "example.com/anchor"), lastOff("second", "example.com/pier")},
		User:        user("delete fleet/a")},
}, {
	name: "recreates a deleted member for an owner that is gone", law: "LAW-1",
	says: []string{"created for fleet/a, which is gone"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), With: []string{"gc"}, SettleFirst: true, Schedules: 30,
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
	name: "removes its finalizer by clearing the list", law: "FIN-1",
	says: []string{"another's finalizer orphan taken off"},
	run: simtest.Case{World: world(fleet("a", 1, "north", ", finalizers: [example.com/anchor]")), SettleFirst: true,
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
	name: "deletes everything every ten minutes and recreates it", law: "EXACT-1",
	says: []string{"leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Schedules: 20,
		Controllers: []host.Controller{refitting(want)}},
}, {
	name: "deletes everything every ten minutes, and does not declare what is wanted", law: "NOFIGHT-1",
	says: []string{"delete", "create", "recurs"},
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

const room = `apiVersion: v1
kind: ResourceQuota
metadata: {name: room}
spec: {hard: {count/configmaps: "2"}}
`

// growing is a world with too little quota for a growing fleet, until the user raises it.
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

// unforbidden mishandle a refusal by quota.
var unforbidden = []wrong{{
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

// A right controller retries with backoff. It counts as settled while the quota is full, and proceeds when that is raised.
func TestRetriesAtAFullQuota(t *testing.T) {
	c := growing(func(_ *operator, _ metav1.Object, err error) error { return err })
	c.Faults, c.Schedules = map[string]int{"crash": 1, "conflict": 1, "error": 1}, 100
	simtest.Check(t, c)
}
