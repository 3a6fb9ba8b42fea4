package convicted_test

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// moreSubtle are various subtle bugs.
var moreSubtle = []wrong{{
	name: "owns across namespaces", law: "LAW-1",
	tell: []string{"created with a ControllerRef to fleet/a, which in another namespace counts as gone"},
	run: simtest.Case{World: world("apiVersion: v1\nkind: Namespace\nmetadata: {name: port}\n", fleet("a", 1, "north")),
		With: []string{"gc"}, Schedules: 10,
		Controllers: []host.Controller{unclaimed(fleeting(func(o *operator, f metav1.Object) error {
			if _, ok, _ := o.members.GetByKey("port/a-0"); ok {
				return nil
			}
			m := o.made(f, "a-0")
			m.SetNamespace("port")
			return o.create(m)
		}))}},
}, {
	name: "two write one status", law: "NOFIGHT-1",
	tell: []string{"ready: 2 -> 1", "ready: 1 -> 2", "the state recurs"},
	run: simtest.Case{World: world(fleet("a", 0, "north")), Schedules: 10,
		Controllers: []host.Controller{says("one", 1), says("two", 2)}},
}, {
	name: "deletes a collection", law: "LAW-2",
	tell: []string{"deletecollection pod/b-0", "owned by rs/b"},
	run: simtest.Case{World: replicaSet("a", 0, "web") + "---\n" + replicaSet("b", 1, "web"), Settled: true,
		Controllers: []host.Controller{
			unclaimed(operates("sets", replicaSets, pods, doing{sync: func(o *operator, f metav1.Object) error {
				if wanted(f) == 0 && len(o.all(f)) > 0 {
					r := &fakeapi.Request{Verb: fakeapi.DeleteCollection, Namespace: "default",
						List: metav1.ListOptions{LabelSelector: "app=web"}}
					for _, k := range o.env.Kinds() {
						if k.GVK == pods {
							r.Kind = k
						}
					}
					_, err := o.client.Do(context.Background(), r)
					return err
				}
				return o.keeps(f)
			}}))}, User: user("label rs/a tier=front")},
}, {
	name: "overwrites its owner from a copy, unconditionally", law: "EXACT-5",
	tell: []string{"replicas: 1 -> 0", "puts back what has been changed since it was read"},
	run: simtest.Case{World: replicaSet("a", 0, "web"), Strict: true, Settled: true,
		Controllers: []host.Controller{
			unclaimed(operates("sets", replicaSets, pods, doing{sync: func(o *operator, f metav1.Object) error {
				if f.GetLabels()["tier"] == f.GetAnnotations()["tier"] {
					return nil
				}
				c := f.(runtime.Object).DeepCopyObject().(*appsv1.ReplicaSet)
				c.Annotations, c.ResourceVersion = map[string]string{"tier": c.Labels["tier"]}, ""
				_, err := o.client.Update(context.Background(), c)
				return err
			}}))}, User: user("label rs/a tier=front", "scale rs/a replicas=1")},
}, {
	name: "never takes off a finalizer that it does not declare", law: "EXACT-6",
	tell: []string{"finalizers: +example.com/anchor", "fleet/a stays terminating, held by example.com/anchor alone"},
	run: simtest.Case{World: world(fleet("a", 0, "north")), Settled: true,
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			if len(f.GetFinalizers()) == 0 {
				return o.merge(fleets, f.GetName(), finalizers(anchor), "")
			}
			return nil
		})}, User: user("delete fleet/a")},
}}

// says is an operator that writes a constant number into the status.
func says(name string, n int) host.Controller {
	c := operates(name, fleets, ships,
		doing{sync: func(o *operator, f metav1.Object) error { return o.reports(f, "ready", n) }})
	c.Owns, c.Contract.Replicas = nil, nil
	return c
}
