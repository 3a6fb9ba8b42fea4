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

// wrongRollouts use the wrong order, change too much at a time, or repeat work.
var wrongRollouts = []wrong{{
	name: "makes the ships before the one that leads them", law: "EXACT-9",
	tell: []string{"made though its flagship a-1 is not there"},
	run: simtest.Case{World: world(led("a", 2, "a-1")), Controllers: []host.Controller{
		convoy(fleeting((*operator).keeps))}},
}, {
	name: "sinks the flagship before those that follow it", law: "EXACT-9",
	tell: []string{"deleted from under cm/a-1: its flagship a-0 is not there"},
	run: simtest.Case{World: world(led("a", 2, "a-0")), Settled: true, Controllers: []host.Controller{
		convoy(fleeting((*operator).sinks))}, User: user("patch fleet/a type=merge '{spec: {replicas: 0}}'")},
}, {
	name: "leaves the cargo of a ship behind", law: "EXACT-10",
	tell: []string{"leaves secret/a-1 behind, which is to go with it"},
	run: simtest.Case{World: world(fleet("a", 2, "north"),
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a-1}\n"), Settled: true,
		Controllers: []host.Controller{laden(fleeting((*operator).keeps))},
		User:        user("patch fleet/a type=merge '{spec: {replicas: 1}}'")},
}, {
	name: "paints all ships at once", law: "EXACT-11",
	tell: []string{"leaves 0 of 2 at sea"},
	run: simtest.Case{World: world(fleet("a", 2, "north")), Settled: true,
		Controllers: []host.Controller{atSea(fleeting((*operator).paints))},
		User:        user("patch fleet/a type=merge '{spec: {color: red}}'")},
}, {
	name: "counts what has come home whenever it looks", law: "EXACT-12",
	tell: []string{"home is 2, there have been no more than 1"},
	run: simtest.Case{World: world(fleet("a", 1, "north")), Settled: true,
		Controllers: []host.Controller{homing(fleeting((*operator).tallies))},
		User:        user("annotate cm/a-0 home=yes")},
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

// sinks creates missing ships, and deletes surplus in the order of names.
func (o *operator) sinks(f metav1.Object) error {
	own := o.owned(f)
	if len(own) > wanted(f) {
		return o.remove(own[0])
	}
	return o.keeps(f)
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
			n, _, _ := unstructuredInt(owner.(metav1.Object), "status", "ready")
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
	n, _, _ := unstructuredInt(f, "status", "ready")
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
