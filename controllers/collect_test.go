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

// refs is "NAME UID" for each owner, with a "!" in front of one that blocks;
// all are ConfigMaps.
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

// seeds runs a test of the garbage collector under many schedules.
func seeds(t *testing.T, f func(c *cluster)) {
	t.Helper()
	for seed := range uint64(60) {
		c := newCluster(t, sim.NewSeed(seed), "garbagecollector")
		f(c)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestCollectsWithoutOwners(t *testing.T) {
	seeds(t, func(c *cluster) {
		a := c.config("default", "a", nil)
		c.config("default", "b", nil)
		b := "unknown"
		c.config("default", "of-a", nil, refs("a "+a)...)
		c.config("default", "of-both", nil, refs("a "+a, "b "+b)...)
		c.config("default", "of-nobody", nil, refs("nobody nowhere")...)
		c.delete("cm", "a", background())
		c.settle()
		c.want("cm", "b") // b is another than the one referred to
	})
}

func TestCutsDeadReferences(t *testing.T) {
	seeds(t, func(c *cluster) {
		a, b := c.config("default", "a", nil), c.config("default", "b", nil)
		c.config("default", "d", nil, refs("a "+a, "b "+b)...)
		c.delete("cm", "a", background())
		c.settle()
		c.want("cm", "b", "d")
		d := c.Server.Lookup(c.Server.KindNamed("cm"), "default", "d").(*corev1.ConfigMap)
		if len(d.OwnerReferences) != 1 || string(d.OwnerReferences[0].UID) != b {
			t.Errorf("owners %v", d.OwnerReferences)
		}
	})
}

func TestForegroundWaitsForBlockingDependents(t *testing.T) {
	seeds(t, func(c *cluster) {
		a := c.config("default", "a", nil)
		c.config("default", "held", []string{"example.com/held"}, refs("!a "+a)...)
		c.config("default", "free", []string{"example.com/held"}, refs("a "+a)...)
		c.settle()
		c.delete("cm", "a", policy(metav1.DeletePropagationForeground))
		c.settle()
		c.want("cm", "a going", "free going", "held going")
		c.patch("cm", "held", `{"metadata":{"finalizers":null}}`)
		c.settle()
		c.want("cm", "free going")
	})
}

// GC-8: an owner in foreground deletion is no reason to stay, and another is.
func TestWaitingAndSolidOwner(t *testing.T) {
	seeds(t, func(c *cluster) {
		a, b := c.config("default", "a", nil), c.config("default", "b", nil)
		c.config("default", "d", nil, refs("!a "+a, "b "+b)...)
		c.settle()
		c.delete("cm", "a", policy(metav1.DeletePropagationForeground))
		c.settle()
		c.want("cm", "b", "d")
	})
}

// GC-6: two that own each other, deleted in the foreground, do not wait for
// each other for ever.
func TestCycle(t *testing.T) {
	seeds(t, func(c *cluster) {
		a := c.config("default", "a", nil)
		b := c.config("default", "b", nil, refs("!a "+a)...)
		c.patch("cm", "a",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":"`+b+
				`","blockOwnerDeletion":true}]}}`)
		c.settle()
		c.delete("cm", "a", policy(metav1.DeletePropagationForeground))
		c.settle()
		c.want("cm")
	})
}

// GC-7: an owner in another namespace is absent, and the wrong reference does
// not harm those that refer to the same owner rightly.
func TestCrossNamespaceOwner(t *testing.T) {
	seeds(t, func(c *cluster) {
		a := c.config("kube-system", "a", nil)
		c.config("default", "wrong", nil, refs("a "+a)...)
		c.config("kube-system", "right", nil, refs("a "+a)...)
		c.settle()
		c.want("cm", "a", "right")
	})
}

// Of several references into another namespace the first is complained of.
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

// GC-5: a reference with the right uid and a wrong name is a reference to
// nothing; those with the right one are not touched.
func TestWrongCoordinates(t *testing.T) {
	seeds(t, func(c *cluster) {
		c.config("default", "wrong", nil, refs("z uid-0")...)
		a := c.config("default", "a", nil)
		c.config("default", "right", nil, refs("a "+a)...)
		c.config("default", "misnamed", nil, refs("b "+a)...)
		c.settle()
		c.want("cm", "a", "right")
	})
}

func TestOrphaningSparesDependents(t *testing.T) {
	seeds(t, func(c *cluster) {
		a := c.config("default", "a", nil)
		c.config("default", "d", nil, refs("!a "+a)...)
		c.config("default", "e", nil, refs("a "+a)...)
		c.settle()
		c.delete("cm", "a", policy(metav1.DeletePropagationOrphan))
		c.settle()
		c.want("cm", "d", "e")
	})
}

// The dead owner stays dead whatever its successor of the same name does.
func TestSuccessorSavesNobody(t *testing.T) {
	seeds(t, func(c *cluster) {
		a := c.config("default", "a", nil)
		c.config("default", "d", nil, refs("a "+a)...)
		c.settle()
		c.delete("cm", "a", background())
		c.config("default", "a", nil)
		c.settle()
		c.want("cm", "a")
	})
}

func TestUnknownOwnerKindIsNeverCollected(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "garbagecollector")
	r := refs("a gone")
	r[0].Kind = "Widget"
	c.config("default", "d", nil, r...)
	for range 500 {
		c.World.Step()
	}
	c.want("cm", "d")
}

// What is there before the history begins is there: a namespace that nobody made owns as any other.
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
