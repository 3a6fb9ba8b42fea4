package controllers_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/trial"
)

// stored is an object that an earlier server stored under other rules.
func stored(obj metav1.Object, uid string) runtime.Object {
	obj.SetUID(types.UID(uid))
	obj.SetResourceVersion("1")
	return obj.(runtime.Object)
}

// A set whose selector is unreadable, or selects nothing, creates no pods: it would release each and create the next.
// It leaves the pods that it owns alone, and the set beside it works.
func TestSetsThatSelectNothingMakeNothing(t *testing.T) {
	for name, selector := range map[string]*metav1.LabelSelector{
		"an operator that is none": {MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: "Resembles", Values: []string{"x"}}}},
		"a value that is none": {MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"not a value!"}}}},
		"no operands": {MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn}}},
		"empty": {},
		"none":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			bad := replicaSet("bad", "x", 2)
			bad.Spec.Selector = selector
			rc := replicationController("bad", "x", 2)
			rc.Spec.Selector = nil
			p := orphan("owned", "x")
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
				&metav1.ObjectMeta{Name: "bad", UID: "bad-rs"}, corev1.SchemeGroupVersion.WithKind("ReplicaSet"))}
			p.OwnerReferences[0].APIVersion = "apps/v1"
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
			server := fakeapi.New(fakeapi.Options{})
			if err := server.Restore([]runtime.Object{stored(namespace, "ns"), stored(bad, "bad-rs"),
				stored(rc, "bad-rc"), stored(p, "owned")}); err != nil {
				t.Fatal(err)
			}
			c := &cluster{Trial: trial.New(trial.Options{Server: server}), t: t, laws: true}
			t.Cleanup(c.Stop)
			c.start("replicaset@controllerref")
			c.start("replication@controllerref")
			c.create(orphan("free", "x"))
			c.create(replicaSet("good", "y", 2))
			c.settle()
			c.wantOwned(map[string]int{"": 1, "bad": 1, "good": 2})
			if n := c.writes("replication"); n != 0 {
				t.Errorf("the set that selects nothing was written for %d times", n)
			}
		})
	}
}
