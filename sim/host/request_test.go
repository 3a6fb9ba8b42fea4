package host

import (
	"context"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// If an object changes during a delete without preconditions, the real server retries the delete (conditionalDelete of
// the etcd3 store). So such a delete never returns 409.
func TestConflictStrikesNoPlainDelete(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	version := "7"
	ctl := toyController(false)
	ctl.New = func(env *Env) Reconciler {
		env.Informer(podGVK)
		env.Informer(configMapGVK)
		once := false
		return SyncFunc(func(ctx context.Context, _ string) error {
			if once {
				return nil
			}
			once = true
			_, _ = env.Client.Create(ctx, toyPod("web"))
			_ = env.Client.Delete(ctx, podGVK, "default", "web-1", metav1.DeleteOptions{})
			_ = env.Client.Delete(ctx, podGVK, "default", "web-1",
				metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
			return nil
		})
	}
	p := c.Start("toy", ctl)
	b, err := c.NewBudget(map[string]int{"conflict": 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		if req, _, ok := p.Asking(); ok {
			what := string(req.Verb)
			if slices.ContainsFunc(b.Offer(nil),
				func(a sim.Action) bool { return strings.HasPrefix(a.Detail, "conflict") }) {
				what += " can conflict"
			}
			if len(got) == 0 || got[len(got)-1] != what {
				got = append(got, what)
			}
		}
		if !c.world.Step() {
			break
		}
	}
	want := []string{"create can conflict", "create", "delete", "delete can conflict", "delete"}
	if !slices.Equal(got, want) {
		t.Errorf("offered at %q, want %q", got, want)
	}
}

// An unstructured object of a built-in kind is stored as its Go type.
func TestUnstructuredOfATypedKind(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(toyPod("web"))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(podGVK)
	u.SetName("loose")
	if _, err := c.Client("user").Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if got := podNames(c); !slices.Equal(got, []string{"default/loose"}) {
		t.Errorf("pods = %v", got)
	}
	u.Object["spec"] = "no spec"
	if _, err := c.Client("user").Update(t.Context(), u); err == nil ||
		!strings.Contains(err.Error(), "cannot be handled as a Pod") {
		t.Errorf("an object that is not a Pod was answered %v", err)
	}
}

// Record.Asked is the number of records when the process sent the request.
func TestAsked(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	p := c.Start("toy", toyController(false))
	for p.workers[0].state != asking {
		if !c.world.Step() {
			t.Fatal("the toy sent no request")
		}
	}
	left := c.world.History.Len()
	c.createMap(t, "late", 0)
	for p.workers[0].state == asking {
		c.world.Step()
	}
	for i := range c.world.History.Records {
		r := &c.world.History.Records[i]
		if r.Process != "toy" || r.Op != sim.Commit {
			continue
		}
		if r.Asked != left || r.Index <= left {
			t.Errorf("record %d: Asked is %d, want %d", r.Index, r.Asked, left)
		}
		return
	}
	t.Error("the toy sent no write")
}

// The UID in the metadata is a precondition. A label with the key uid is not.
func TestGuards(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	defer c.Stop()
	if _, err := c.Client("user").Create(t.Context(), toyPod("web")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		patch string
		want  sim.Guards
	}{
		{`{"metadata":{"labels":{"uid":"a","resourceVersion":"1"}}}`, sim.Guards{}},
		{`{"metadata":{"labels":{"uid":"b"},"uid":"another"}}`, sim.Guards{UID: true}},
		{`{"metadata":{"resourceVersion":"1"}}`, sim.Guards{ResourceVersion: true}},
	} {
		c.As("user", &fakeapi.Request{Verb: fakeapi.Patch, Kind: c.kind(podGVK), Namespace: "default", Name: "web-1",
			PatchType: types.MergePatchType, Patch: []byte(p.patch)})
		if r := c.world.History.At(c.world.History.Len() - 1); r.Guards != p.want || r.Verb != "patch" {
			t.Errorf("%s: %+v of %s, want %+v", p.patch, r.Guards, r.Verb, p.want)
		}
	}
}

// The record of a request for a scale contains the scaled object, which laws can read.
func TestScaleIsReadOffItsObject(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 0)
	kind, one := c.server.KindNamed("replicaset"), int32(1)
	labels := map[string]string{"app": "web"}
	c.As("user", &fakeapi.Request{Verb: fakeapi.Create, Kind: kind, Namespace: "default", Name: "web",
		Object: &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
			Spec: appsv1.ReplicaSetSpec{Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}})
	for _, req := range []*fakeapi.Request{
		{Verb: fakeapi.Get},
		{Verb: fakeapi.Patch, PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"replicas":1}}`)},
	} {
		req.Kind, req.Namespace, req.Name, req.Subresource = kind, "default", "web", "scale"
		if resp := c.As("user", req); resp.Err != nil {
			t.Fatal(resp.Err)
		}
		r := c.world.History.At(c.world.History.Len() - 1)
		if _, ok := r.After.(*appsv1.ReplicaSet); !ok || r.Op != sim.Read {
			t.Errorf("%s: recorded as %v of a %T", req.Verb, r.Op, r.After)
		}
	}
}

// The server accepts the short names that timelines contain.
func TestShortNamesAreTaken(t *testing.T) {
	s := fakeapi.New(fakeapi.Options{})
	n := 0
	for _, k := range s.Served() {
		short := sim.Short(k.GVK.Kind)
		if got := s.KindNamed(short); got == nil || got.GVK.Kind != k.GVK.Kind {
			t.Errorf("the server resolves the short name of %s, %s, to %v", k.GVK.Kind, short, got)
		}
		n++
	}
	if n < 20 {
		t.Errorf("the server serves %d kinds", n)
	}
}
