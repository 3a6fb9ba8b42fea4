package wrongoperators_test

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrongIdentities confuse an object with another, or an old one with a new one.
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
		}))}, User: []simtest.Action{simtest.Do("sink-the-first", sinkTheFirst)}},
}, {
	name: "deletes by name what it has recreated", law: "EXACT-4",
	says: []string{"delete meant for an earlier ConfigMap of that name"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			if m, ok, _ := o.members.GetByKey("default/a-0"); ok {
				if m.(*corev1.ConfigMap).Data["color"] == field(f, "color") {
					return nil
				}
				err := o.client.Delete(context.Background(), ships, "default", "a-0", metav1.DeleteOptions{}) // it is immutable
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

// numbered declares that a ship's number identifies it.
func numbered(c host.Controller) host.Controller {
	c.Contract.Replicas = nil
	c.Contract.Identity = func(m runtime.Object) string { return m.(*corev1.ConfigMap).Data["number"] }
	return c
}

// sinkTheFirst deletes the oldest ship.
func sinkTheFirst(user host.Client) error {
	list, err := user.List(context.Background(), ships, "default", metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, m := range list {
		if c := m.(*corev1.ConfigMap); c.Data["number"] == "0" {
			return user.Delete(context.Background(), ships, "default", c.Name, metav1.DeleteOptions{})
		}
	}
	return nil
}

// wrongRollouts use the wrong order, change too much at a time, or repeat work.
var wrongRollouts = []wrong{{
	name: "creates the ships before their flagship", law: "EXACT-9",
	says: []string{"made though its flagship a-1 is not there"},
	run: simtest.Case{World: world(led("a", 2, "a-1")), Controllers: []host.Controller{
		convoy(fleeting((*operator).keeps))}},
}, {
	name: "leaves the cargo of a ship behind", law: "EXACT-10",
	says: []string{"leaves secret/a-1 behind, which is to go with it"},
	run: simtest.Case{World: world(fleet("a", 2, "north"),
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a-1}\n"), SettleFirst: true,
		Controllers: []host.Controller{laden(fleeting((*operator).keeps))},
		User:        user("patch fleet/a type=merge '{spec: {replicas: 1}}'")},
}, {
	name: "paints all ships at once", law: "EXACT-11",
	says: []string{"leaves 0 of 2 at sea"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), SettleFirst: true,
		Controllers: []host.Controller{atSea(fleeting((*operator).paints))},
		User:        user("patch fleet/a type=merge '{spec: {color: red}}'")},
}, {
	name: "counts ships at home again at each reconcile", law: "EXACT-12",
	says: []string{"home is 2, there have been no more than 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), SettleFirst: true,
		Controllers: []host.Controller{homing(fleeting((*operator).tallies))},
		User:        user("annotate cm/a-0 home=yes")},
}, {
	name: "decides by what its cache lacks", law: "EXACT-13",
	says: []string{"cm/result: data.is is 0, and 1 in a quiet run"},
	run: simtest.Case{SameEnd: true, SettleFirst: true, Controllers: []host.Controller{tallying}, User: []simtest.Action{
		simtest.Apply("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")}},
}}

// led returns the manifest of a fleet with a flagship.
func led(name string, replicas int, flagship string) string {
	return fmt.Sprintf("apiVersion: example.com/v1\nkind: Fleet\nmetadata: {name: %s}\nspec: {replicas: %d, "+
		"sea: north, flagship: %s}\n", name, replicas, flagship)
}

// convoy declares that each ship depends on the flagship.
func convoy(c host.Controller) host.Controller {
	c.Contract.Replicas = nil
	c.Contract.Invariants = []*law.Invariant{{ID: "EXACT-9", When: law.BeforeCreate, Check: func(f *law.Facts) string {
		lead := field(f.Owner.(metav1.Object), "flagship")
		if f.After.(metav1.Object).GetName() == lead {
			return ""
		}
		for _, o := range f.All("ConfigMap") {
			if m := o.(metav1.Object); m.GetName() == lead && m.GetDeletionTimestamp() == nil {
				return ""
			}
		}
		return "its flagship " + lead + " is not there"
	}}}
	return c
}

// laden declares that the Secret of a ship's name belongs to it, and watches Secrets.
func laden(c host.Controller) host.Controller {
	plain := c.New
	c.New = func(env *host.Env) host.Reconciler {
		env.Informer(secrets)
		return plain(env)
	}
	c.Contract.Invariants = []*law.Invariant{{ID: "EXACT-10", When: law.AtDelete, Check: func(f *law.Facts) string {
		s := f.Before.(metav1.Object)
		for _, o := range f.All("Secret") {
			if cargo := o.(metav1.Object); cargo.GetName() == s.GetName() && !metav1.IsControlledBy(cargo, s) {
				return "leaves secret/" + cargo.GetName() + " behind, which is to go with it"
			}
		}
		return ""
	}}}
	return c
}

// atSea declares that at most one ship may be missing.
func atSea(c host.Controller) host.Controller {
	c.Contract.Replicas = nil
	c.Contract.Invariants = []*law.Invariant{{ID: "EXACT-11", When: law.AtWrite, Check: func(f *law.Facts) string {
		n, others := want(f.Owner), len(f.Dependents)
		if f.Before != nil && f.After == nil && others < n-1 {
			return fmt.Sprintf("leaves %d of %d at sea", others, n)
		}
		return ""
	}}}
	return c
}

// paints deletes ships of another colour and recreates them.
func (o *operator) paints(f metav1.Object) error {
	for _, m := range o.owned(f) {
		if m.(*corev1.ConfigMap).Data["color"] != field(f, "color") {
			if err := o.remove(m); err != nil {
				return err
			}
		}
	}
	return o.keeps(f)
}

// homing declares that the status counts each ship that has come home, permanently.
func homing(c host.Controller) host.Controller {
	c.Contract.Counts = []law.Count{{
		Name: "home",
		Of: func(owner runtime.Object) int {
			n, _ := number(owner.(metav1.Object), "status", "ready")
			return n
		},
		Once: true,
		Is: func(_, m runtime.Object) bool {
			return m.(metav1.Object).GetAnnotations()["home"] != ""
		},
	}}
	return c
}

// tallies adds the ships at home to the number in the status.
func (o *operator) tallies(f metav1.Object) error {
	n, _ := number(f, "status", "ready")
	for _, m := range o.owned(f) {
		if m.GetAnnotations()["home"] != "" {
			n++
		}
	}
	if err := o.keeps(f); err != nil {
		return err
	}
	return o.reports(f, "ready", n)
}

// tallying creates the ConfigMap result once it sees the ConfigMap a, with the number of Secrets in its cache.
var tallying = host.Controller{Name: "tally", For: ships,
	Routes: []host.Route{{Kind: ships, Do: func(_ host.View, e host.Event, out *host.Effect) {
		if e.New != nil && e.New.(metav1.Object).GetName() == "a" {
			out.Keys = append(out.Keys, "default/a")
		}
	}}},
	New: func(env *host.Env) host.Reconciler {
		secrets := env.Informer(secrets)
		return host.SyncFunc(func(ctx context.Context, _ string) error {
			m := &corev1.ConfigMap{Data: map[string]string{"is": strconv.Itoa(len(secrets.GetStore().List()))}}
			m.Namespace, m.Name = "default", "result"
			if _, err := env.Client.Create(ctx, m); !apierrors.IsAlreadyExists(err) {
				return err
			}
			return nil
		})
	}}
