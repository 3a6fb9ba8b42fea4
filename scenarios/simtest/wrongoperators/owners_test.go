package wrongoperators_test

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// wrongOwners touch objects that are not theirs.
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
			for _, m := range o.all(f) { // it takes everything with the label
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
	says: []string{"delete", "owned by rs/b"},
	run: simtest.Case{World: replicaSet("a", 1, "web") + "---\n" + replicaSet("b", 1, "web"),
		Controllers: []host.Controller{
			unclaimed(operates("sets", replicaSets, pods, doing{sync: func(o *operator, f metav1.Object) error {
				for _, m := range o.all(f) {
					if len(o.owned(f)) > 0 && !metav1.IsControlledBy(m, f) {
						return o.removeName(m.GetName(), metav1.DeleteOptions{})
					}
				}
				if o.has(f.GetName() + "-0") {
					return nil
				}
				return o.create(o.made(f, f.GetName()+"-0"))
			}}))}},
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
	run: simtest.Case{World: world(fleet("a", 0, "north"), ship("chart", "north")),
		Controllers: []host.Controller{paints("red"), paints("blue")}, Schedules: 30},
}, {
	name: "writes a count that wakes it up", law: "NOFIGHT-1",
	says: []string{"status fleet/a ready: 1248 -> 1249", "goes on"},
	run: simtest.Case{World: world(fleet("a", 0, "north")), Schedules: 1,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			n, _ := number(f, "status", "ready")
			return o.reports(f, "ready", n+1) // a count of reconciles
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

// paints is an operator that wants the ownerless chart of its sea to have a colour.
func paints(color string) host.Controller {
	c := operates(color, fleets, ships, doing{sync: func(o *operator, f metav1.Object) error {
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

// subtleOwners touch objects that are not theirs, in indirect ways.
var subtleOwners = []wrong{{
	name: "adds itself as a second owner of an existing object", law: "LAW-2",
	says: []string{"patch cm/boat", "owners: +fleet/", "owned by fleet/"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("b", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			x, ok, _ := o.members.GetByKey("default/boat")
			if !ok {
				return o.create(o.made(f, "boat"))
			}
			list := x.(metav1.Object).GetOwnerReferences()
			for _, ref := range list {
				if ref.UID == f.GetUID() {
					return nil
				}
			}
			mine := metav1.NewControllerRef(f, fleets) // the server refuses two controllers, so it adds a plain owner
			mine.Controller = nil
			return o.merge(ships, "boat", refs(append(list[:len(list):len(list)], *mine)...), "")
		}))}},
}, {
	name: "removes the finalizer of another operator", law: "FIN-1",
	says: []string{"another's finalizer example.com/anchor taken off"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) > 0 { // it hangs
					return o.merge(ships, m.GetName(), finalizers(), "")
				}
			}
			return o.keeps(f)
		}), anchors()}, User: user("delete cm/a-0")},
}, {
	name: "replaces the list of owners and drops another's", law: "LAW-2",
	says: []string{"patch", "owners: -cm/second", "takes off the reference to cm/second, which is there"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\n"),
		SettleFirst: true, Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.GetLabels()["tier"] != f.GetLabels()["tier"] {
					patch := refs(*metav1.NewControllerRef(f, fleets))
					patch["metadata"].(map[string]any)["labels"] = map[string]any{"tier": f.GetLabels()["tier"]}
					return o.merge(ships, m.GetName(), patch, "")
				}
			}
			return o.keeps(f)
		})}, User: []simtest.Action{simtest.Do("add-owner", addOwner),
			simtest.Verb("label fleet/a tier=front")}},
}, {
	name: "deletes what has its name as a prefix", law: "LAW-2",
	says: []string{"delete", "owned by fleet/a-big"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("a-big", 1, "north")),
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.all(f) {
				if strings.HasPrefix(m.GetName(), f.GetName()+"-") && m.GetName() != f.GetName()+"-0" {
					return o.remove(m)
				}
			}
			return o.keeps(f)
		}))}},
}, {
	name: "deletes the members of an owner that its cache does not have yet", law: "LAW-2",
	says: []string{"create fleet/a", "owned by fleet/a"},
	run: simtest.Case{World: world(fleet("b", 0, "north")), SettleFirst: true,
		Controllers: []host.Controller{fleeting((*operator).keeps), unclaimed(operates("janitor", fleets, ships, doing{
			sync: func(*operator, metav1.Object) error { return nil },
			gone: func(o *operator, name string) error {
				for _, x := range o.members.List() {
					if c := metav1.GetControllerOf(x.(metav1.Object)); c != nil && c.Name == name {
						return o.remove(x.(metav1.Object))
					}
				}
				return nil
			}}))}, User: []simtest.Action{simtest.Do("launch", launch)}},
}, {
	name: "looks for the owner in the wrong namespace, and deletes its members", law: "EXACT-1",
	says: []string{"get kube-system/fleet/a refused: 404 NotFound", "leaves fleet/a with 0, it wants 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				_, err := o.client.Get(context.Background(), fleets, "kube-system", f.GetName())
				if apierrors.IsNotFound(err) {
					return o.remove(m)
				}
			}
			return o.keeps(f)
		})}},
}, {
	name: "knows its members by the name of their owner only", law: "ADOPT-8",
	says: []string{"a recreated owner fleet/a"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), SettleFirst: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			have := 0
			for _, x := range o.members.List() {
				m := x.(metav1.Object)
				if c := metav1.GetControllerOf(m); c != nil && c.Name == f.GetName() {
					if have++; have > wanted(f) {
						return o.remove(m)
					}
				}
			}
			if have == 0 {
				return o.keeps(f)
			}
			return nil
		})}, User: []simtest.Action{simtest.Verb("delete fleet/a"), simtest.Do("launch", launch)}},
}, {
	name: "scales a rival to zero", law: "LAW-2",
	says: []string{"scale fleet/b replicas: 1 -> 0"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("b", 1, "north")),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, x := range o.owners.List() {
				r := x.(metav1.Object)
				if r.GetName() > f.GetName() && field(r, "sea") == field(f, "sea") && wanted(r) > 0 {
					return o.merge(fleets, r.GetName(), map[string]any{"spec": map[string]any{"replicas": 0}}, "")
				}
			}
			return o.keeps(f)
		})}},
}, {
	name: "adopts with an empty patch and counts the object", law: "LAW-3",
	says: []string{"counts 1 in its status"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), ship("x", "north")),
		Controllers: []host.Controller{counting(fleeting(func(o *operator, f metav1.Object) error {
			have := len(o.owned(f))
			for _, m := range o.all(f) {
				if metav1.GetControllerOf(m) == nil && have < wanted(f) { // the difference is computed against itself
					if err := o.merge(ships, m.GetName(), map[string]any{}, ""); err != nil {
						return err
					}
					have++
				}
			}
			return o.reports(f, "replicas", have)
		}))}},
}, {
	name: "releases by dropping the whole list of owners", law: "ORPHAN-1",
	says: []string{"with references of others changed"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\n"),
		SettleFirst: true,
		Controllers: []host.Controller{counting(unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.GetLabels()["sea"] != field(f, "sea") {
					return o.merge(ships, m.GetName(),
						map[string]any{"metadata": map[string]any{"ownerReferences": nil}},
						"")
				}
			}
			return o.keeps(f)
		})))}, User: []simtest.Action{simtest.Do("add-owner", addOwner),
			simtest.Verb("label cm/a-0 sea=south")}},
}, {
	name: "adopts while it is being deleted", law: "ADOPT-3",
	says: []string{"known to be going"},
	run: simtest.Case{World: world(fleet("a", 0, "north", ", finalizers: [example.com/pier]"), ship("x", "north")),
		SettleFirst: true,
		Controllers: []host.Controller{
			holding(operates("fleet", fleets, ships,
				doing{sync: (*operator).keeps, dying: func(o *operator, f metav1.Object) error {
					for _, m := range o.all(f) {
						if metav1.GetControllerOf(m) == nil {
							return o.merge(ships, m.GetName(), refs(*metav1.NewControllerRef(f, fleets)), "")
						}
					}
					return nil
				}}))}, User: user("delete fleet/a")},
}, {
	name: "takes surplus from another fleet", law: "LAW-1b",
	says: []string{"taken from fleet/b by fleet/a"},
	run: simtest.Case{World: world(fleet("a", 0, "north"), fleet("b", 2, "north")), SettleFirst: true,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			if f.GetName() == "b" || len(o.owned(f)) >= wanted(f) {
				return o.keeps(f)
			}
			c := o.all(f)[1].(*corev1.ConfigMap).DeepCopy()
			c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(f, fleets)}
			_, err := o.client.Update(context.Background(), c)
			return err
		}))}, User: user("patch fleet/a type=merge '{spec: {replicas: 1}}'")},
}}

// anchors is another operator, which adds a finalizer to every ship.
func anchors() host.Controller {
	return holding(
		host.Controller{Name: "anchors", For: ships,
			Routes: []host.Route{{Kind: ships, Do: func(_ host.View, e host.Event, out *host.Effect) {
				out.Keys = append(out.Keys, keyOf(either(e)))
			}}}, New: func(env *host.Env) host.Reconciler {
				list := env.Informer(ships).GetIndexer()
				return host.SyncFunc(func(ctx context.Context, key string) error {
					x, ok, _ := list.GetByKey(key)
					if !ok || x.(metav1.Object).GetDeletionTimestamp() != nil ||
						len(x.(metav1.Object).GetFinalizers()) > 0 {
						return nil
					}
					c := x.(*corev1.ConfigMap).DeepCopy()
					c.Finalizers = []string{anchor}
					_, err := env.Client.Update(ctx, c)
					return err
				})
			}})
}

// addOwner adds it as another owner of the ship.
func addOwner(user host.Client) error {
	ctx := context.Background()
	second, err := user.Get(ctx, ships, "default", "second")
	if err != nil {
		return err
	}
	x, err := user.Get(ctx, ships, "default", "a-0")
	if err != nil {
		return err
	}
	c := x.(*corev1.ConfigMap).DeepCopy()
	c.OwnerReferences =
		append(c.OwnerReferences,
			metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "second",
				UID: second.(metav1.Object).GetUID()})
	_, err = user.Update(ctx, c)
	return err
}

// launch creates fleet a with one ship.
func launch(user host.Client) error {
	data := map[string]any{"apiVersion": "example.com/v1", "kind": "Fleet",
		"metadata": map[string]any{"name": "a", "namespace": "default"},
		"spec":     map[string]any{"replicas": int64(1), "sea": "north"}}
	_, err := user.Create(context.Background(), asObject(data))
	return err
}
