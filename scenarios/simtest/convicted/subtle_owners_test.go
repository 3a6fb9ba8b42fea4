package convicted_test

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// subtleOwners touch objects that are not theirs, in indirect ways.
var subtleOwners = []wrong{{
	name: "makes itself a second owner of what has the name already", law: "LAW-2",
	tell: []string{"patch cm/boat", "owners: +fleet/", "owned by fleet/"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), fleet("b", 1, "north")), Settled: true,
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
	name: "takes away a finalizer that another operator put there", law: "FIN-1",
	tell: []string{"another's finalizer example.com/anchor taken off"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Settled: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) > 0 { // it hangs
					return o.merge(ships, m.GetName(), finalizers(), "")
				}
			}
			return o.keeps(f)
		}), anchors()}, User: user("delete cm/a-0")},
}, {
	name: "writes the list of owners anew and forgets another's", law: "LAW-2",
	tell: []string{"patch", "owners: -cm/crew", "takes off the reference to cm/crew, which is there"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: crew}\n"),
		Settled: true, Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.GetLabels()["tier"] != f.GetLabels()["tier"] {
					patch := refs(*metav1.NewControllerRef(f, fleets))
					patch["metadata"].(map[string]any)["labels"] = map[string]any{"tier": f.GetLabels()["tier"]}
					return o.merge(ships, m.GetName(), patch, "")
				}
			}
			return o.keeps(f)
		})}, User: []simtest.Action{simtest.Do("join-the-crew", joinTheCrew),
			simtest.Verb("label fleet/a tier=front")}},
}, {
	name: "deletes what begins with its name", law: "LAW-2",
	tell: []string{"delete", "owned by fleet/a-big"},
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
	tell: []string{"create fleet/a", "owned by fleet/a"},
	run: simtest.Case{World: world(fleet("b", 0, "north")), Settled: true,
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
	name: "looks for the owner in the wrong namespace and takes it for gone", law: "EXACT-1",
	tell: []string{"get kube-system/fleet/a refused: 404 NotFound", "leaves fleet/a with 0, it wants 1"},
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
	name: "knows its members by the name of their owner alone", law: "ADOPT-8",
	tell: []string{"a namesake of its owner fleet/a"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), Settled: true,
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
	name: "scales a rival to nothing", law: "LAW-2",
	tell: []string{"scale fleet/b replicas: 1 -> 0"},
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
	name: "adopts with a patch that is empty and counts what it believes to have", law: "LAW-3",
	tell: []string{"counts 1 in its status"},
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
	tell: []string{"with references of others changed"},
	run: simtest.Case{World: world(fleet("a", 1, "north"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: crew}\n"),
		Settled: true,
		Controllers: []host.Controller{counting(unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			for _, m := range o.owned(f) {
				if m.GetLabels()["sea"] != field(f, "sea") {
					return o.merge(ships, m.GetName(),
						map[string]any{"metadata": map[string]any{"ownerReferences": nil}},
						"")
				}
			}
			return o.keeps(f)
		})))}, User: []simtest.Action{simtest.Do("join-the-crew", joinTheCrew),
			simtest.Verb("label cm/a-0 sea=south")}},
}, {
	name: "adopts while it is being deleted", law: "ADOPT-3",
	tell: []string{"known to be going"},
	run: simtest.Case{World: world(fleet("a", 0, "north", ", finalizers: [example.com/pier]"), ship("x", "north")),
		Settled: true,
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
	name: "takes from another fleet what that one has too many of", law: "LAW-1b",
	tell: []string{"taken from fleet/b by fleet/a"},
	run: simtest.Case{World: world(fleet("a", 0, "north"), fleet("b", 2, "north")), Settled: true,
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

// joinTheCrew adds the crew as another owner of the ship.
func joinTheCrew(user host.Client) error {
	ctx := context.Background()
	crew, err := user.Get(ctx, ships, "default", "crew")
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
			metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "crew",
				UID: crew.(metav1.Object).GetUID()})
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
