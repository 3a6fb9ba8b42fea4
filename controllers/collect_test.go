package controllers_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// refs returns owners from "NAME UID", with a "!" in front of one that blocks; all are ConfigMaps.
func refs(owners ...string) []metav1.OwnerReference {
	var out []metav1.OwnerReference
	for _, o := range owners {
		name, uid, _ := strings.Cut(strings.TrimPrefix(o, "!"), " ")
		r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(uid)}
		if strings.HasPrefix(o, "!") {
			yes := true
			r.BlockOwnerDeletion = &yes
		}
		out = append(out, r)
	}
	return out
}

// config creates a ConfigMap and returns its uid.
func (c *cluster) config(namespace, name string, finalizers []string, owners ...metav1.OwnerReference) string {
	c.t.Helper()
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: finalizers,
			OwnerReferences: owners}}
	obj := c.do(
		&fakeapi.Request{Verb: fakeapi.Create, Kind: c.Server.KindOf(cm), Namespace: namespace, Name: name, Object: cm})
	return string(obj.(*corev1.ConfigMap).UID)
}

// Of several references into another namespace, the first gets an event.
func TestOneComplaintForAllReferences(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "garbagecollector")
	a, b := c.config("kube-system", "a", nil), c.config("kube-system", "b", nil)
	c.settle()
	c.config("default", "wrong", nil, refs("a "+a, "b "+b)...)
	c.settle()
	var messages []string
	c.Server.Each(c.Server.KindNamed("event"), func(obj runtime.Object) bool {
		messages = append(messages, obj.(*corev1.Event).Message)
		return true
	})
	if len(messages) != 1 || !strings.Contains(messages[0], "name: a,") {
		t.Errorf("complaints: %q", messages)
	}
}

// Objects from before the history exist: a namespace without a creation owns like any other.
func TestOwnedByTheFirstNamespace(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "garbagecollector")
	home := c.Server.Lookup(c.Server.KindNamed("namespace"), "", "default").(metav1.Object)
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owned",
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Namespace", Name: "default", UID: home.GetUID()},
			{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: "gone"},
		}}})
	c.settle()
	c.want("configmap", "owned")
	owned := c.Server.Lookup(c.Server.KindNamed("configmap"), "default", "owned").(metav1.Object)
	if refs := owned.GetOwnerReferences(); len(refs) != 1 || refs[0].Name != "default" {
		t.Errorf("owners are %v", refs)
	}
}
