package namespace_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/namespace"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/trial"
)

type cluster struct {
	*trial.Trial
	t *testing.T
}

func newCluster(t *testing.T, without namespace.Without) *cluster {
	t.Helper()
	c := &cluster{trial.New(trial.Options{}), t}
	t.Cleanup(c.Stop)
	c.Start("namespace", namespace.New(without))
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	return c
}

func (c *cluster) do(req *fakeapi.Request) runtime.Object {
	c.t.Helper()
	resp := c.Cluster.As("user", req)
	if resp.Err != nil {
		c.t.Fatalf("%s %s: %v", req.Verb, req.Name, resp.Err)
	}
	return resp.Object
}

func (c *cluster) create(obj runtime.Object) {
	c.t.Helper()
	m := obj.(metav1.Object)
	c.do(&fakeapi.Request{Verb: fakeapi.Create, Kind: c.Server.KindOf(obj), Namespace: m.GetNamespace(),
		Name: m.GetName(), Object: obj})
}

func (c *cluster) config(name string, finalizers ...string) {
	c.t.Helper()
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Finalizers: finalizers}})
}

func (c *cluster) pod(name, node string, finalizers ...string) {
	c.t.Helper()
	c.create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Finalizers: finalizers},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
	})
}

func (c *cluster) delete(kind, name string, opts metav1.DeleteOptions) {
	c.t.Helper()
	k := c.Server.KindNamed(kind)
	req := &fakeapi.Request{Verb: fakeapi.Delete, Kind: k, Name: name, Delete: opts}
	if k.Namespaced {
		req.Namespace = "a"
	}
	c.do(req)
}

func (c *cluster) release(kind, name string) {
	c.t.Helper()
	c.do(&fakeapi.Request{
		Verb: fakeapi.Patch, Kind: c.Server.KindNamed(kind), Namespace: "a", Name: name,
		PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"finalizers":null}}`),
	})
}

func (c *cluster) run(d time.Duration) {
	c.t.Helper()
	if how := c.Settle(trial.Limits{For: d, Steps: 100_000}); !how.Settled {
		c.t.Fatalf("does not settle: %+v", how)
	}
}

func (c *cluster) namespace() *corev1.Namespace {
	obj := c.Server.Lookup(c.Server.KindNamed("namespace"), "", "a")
	if obj == nil {
		return nil
	}
	return obj.(*corev1.Namespace)
}

func (c *cluster) has(kind, name string) bool {
	return c.Server.Lookup(c.Server.KindNamed(kind), "a", name) != nil
}

func (c *cluster) condition(kind corev1.NamespaceConditionType) (corev1.ConditionStatus, string) {
	c.t.Helper()
	for _, cond := range c.namespace().Status.Conditions {
		if cond.Type == kind {
			return cond.Status, cond.Message
		}
	}
	return "", ""
}

func TestWaitsForFinalizers(t *testing.T) {
	c := newCluster(t, namespace.Without{})
	c.config("x", "example.com/hold")
	c.config("y", "example.com/hold", "example.com/more")
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}})
	c.delete("namespace", "a", metav1.DeleteOptions{})
	c.run(time.Hour)
	if c.namespace() == nil || !c.has("configmap", "x") {
		t.Fatal("the namespace is gone although a finalizer kept an object in it")
	}
	if status, text := c.condition(corev1.NamespaceContentRemaining); status != corev1.ConditionTrue ||
		text != "Some resources are remaining: configmaps. has 2 resource instances" {
		t.Errorf("%s %q", status, text)
	}
	if status, text := c.condition(corev1.NamespaceFinalizersRemaining); status != corev1.ConditionTrue ||
		text != "Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances, "+
			"example.com/more in 1 resource instances" {
		t.Errorf("%s %q", status, text)
	}
	c.release("configmap", "x")
	c.release("configmap", "y")
	c.run(9 * time.Second) // 15 / 2 + 1, rounded down, and the sync
	if c.namespace() != nil {
		t.Errorf("the namespace still exists: %+v", c.namespace().Status)
	}
	if c.Server.Lookup(c.Server.KindNamed("configmap"), "default", "x") == nil {
		t.Error("an object of another namespace was deleted")
	}
}

// While a pod is left, nothing else is deleted.
func TestPodsFirst(t *testing.T) {
	for _, w := range []namespace.Without{{}, {PodsFirst: true}} {
		c := newCluster(t, w)
		c.pod("p", "", "example.com/hold")
		c.config("x")
		c.delete("namespace", "a", metav1.DeleteOptions{})
		c.run(time.Hour)
		if c.has("configmap", "x") == w.PodsFirst {
			t.Errorf("%+v: the ConfigMap exists: %t", w, !w.PodsFirst)
		}
		if status, text := c.condition(corev1.NamespaceContentRemaining); status != corev1.ConditionFalse &&
			!w.PodsFirst {
			t.Errorf("%+v: %s %q", w, status, text)
		}
		c.release("pod", "p")
		c.run(time.Minute)
		if c.namespace() != nil || c.has("configmap", "x") {
			t.Errorf("%+v: left: %+v", w, c.namespace())
		}
	}
}

// A pod on a node has its grace period. After that it is an error, which is retried.
func TestGracefulPod(t *testing.T) {
	c := newCluster(t, namespace.Without{})
	c.pod("p", "node-1")
	c.delete("namespace", "a", metav1.DeleteOptions{})
	c.run(10 * time.Second)
	if status, _ := c.condition(corev1.NamespaceDeletionContentFailure); status != corev1.ConditionFalse {
		t.Error("a pod in its grace period counts as a failure")
	}
	c.run(time.Minute)
	want := "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: a " +
		"for gvr: /v1, Resource=pods"
	if status, text := c.condition(corev1.NamespaceDeletionContentFailure); status != corev1.ConditionTrue ||
		text != want {
		t.Errorf("%s %q", status, text)
	}
	zero := int64(0)
	c.delete("pod", "p", metav1.DeleteOptions{GracePeriodSeconds: &zero})
	c.run(2 * time.Minute)
	if c.namespace() != nil {
		t.Errorf("the namespace still exists: %+v", c.namespace().Status)
	}
}

// Ended pods have no grace period: the namespace is checked again after half of the time for finalizers.
func TestEndedPodsAreNotWaitedFor(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		c := newCluster(t, namespace.Without{})
		c.pod("p", "n1", "example.com/hold")
		c.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: c.Server.KindNamed("pod"), Namespace: "a", Name: "p",
			Subresource: "status", PatchType: types.MergePatchType,
			Patch: []byte(`{"status":{"phase":"` + phase + `"}}`)})
		c.delete("namespace", "a", metav1.DeleteOptions{})
		c.run(11 * time.Second) // the second check, caused by the status write, is at ten seconds
		c.release("pod", "p")
		// Removing a finalizer is assumed to take 15 seconds. The next check comes after half of that.
		c.run(6 * time.Second)
		if c.namespace() == nil {
			t.Errorf("%s: not waited for", phase)
		}
		c.run(2 * time.Second)
		if c.namespace() != nil {
			t.Errorf("%s: the namespace still exists", phase)
		}
	}
}

// A namespace without finalizers in its spec is left alone. Finalizers in its metadata belong to other programs.
func TestFinalizedIsLeftAlone(t *testing.T) {
	c := newCluster(t, namespace.Without{})
	c.config("kept")
	c.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: c.Server.KindNamed("namespace"), Name: "a",
		PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)})
	ns := c.namespace().DeepCopy()
	ns.Spec.Finalizers = nil
	c.do(&fakeapi.Request{Verb: fakeapi.Update, Kind: c.Server.KindNamed("namespace"), Name: "a",
		Subresource: "finalize", Object: ns})
	c.delete("namespace", "a", metav1.DeleteOptions{})
	c.run(time.Minute)
	if !c.has("cm", "kept") || len(c.namespace().Status.Conditions) > 0 {
		t.Errorf("it was emptied: %+v", c.namespace().Status)
	}
}

func TestOthersFinalizersStay(t *testing.T) {
	c := newCluster(t, namespace.Without{})
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: corev1.NamespaceSpec{
		Finalizers: []corev1.FinalizerName{"example.com/z", "example.com/a", "example.com/z"}}})
	c.delete("namespace", "b", metav1.DeleteOptions{})
	c.run(time.Minute)
	obj := c.Server.Lookup(c.Server.KindNamed("namespace"), "", "b")
	if obj == nil {
		t.Fatal("the namespace is gone although finalizers keep it")
	}
	if got := obj.(*corev1.Namespace).Spec.Finalizers; !slices.Equal(got,
		[]corev1.FinalizerName{"example.com/a", "example.com/z"}) {
		t.Errorf("finalizers %q", got)
	}
}

// If the namespace is finalized and recreated at any point of a reconcile, the new one keeps its finalizer.
func TestSuccessorIsNotLetGo(t *testing.T) {
	if n := successorsLetGo(t, namespace.Without{}); n != 0 {
		t.Errorf("%d recreated namespaces lost their finalizer", n)
	}
	if n := successorsLetGo(t, namespace.Without{Incarnation: true}); n == 0 {
		t.Error("without the guard, no recreated namespace loses its finalizer")
	}
}

func successorsLetGo(t *testing.T, w namespace.Without) (lost int) {
	for steps := 0; ; steps++ {
		c := newCluster(t, w)
		c.delete("namespace", "a", metav1.DeleteOptions{})
		c.run(4999 * time.Millisecond)
		for range steps {
			c.World.Step()
		}
		ns := c.namespace()
		if ns == nil {
			return lost
		}
		final := *ns
		final.Spec.Finalizers = nil
		c.do(&fakeapi.Request{Verb: fakeapi.Update, Kind: c.Server.KindNamed("namespace"), Subresource: "finalize",
			Name: "a", Object: &final})
		c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		c.run(time.Minute)
		if !slices.Contains(c.namespace().Spec.Finalizers, corev1.FinalizerKubernetes) {
			lost++
		}
	}
}
