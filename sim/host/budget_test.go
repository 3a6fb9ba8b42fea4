package host

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim"
)

// The server takes up a delete that names no version again by itself when the object
// was modified meanwhile (etcd3 store, conditionalDelete): 409 answers none.
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
	b, err := NewBudget(c, map[string]int{"conflict": 1})
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

// An unstructured object of a kind with a Go type is written as that type.
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
		t.Errorf("what is no pod was answered %v", err)
	}
}
