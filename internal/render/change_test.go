package render_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// widget returns a custom resource with one field.
func widget(top string, value any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "a", "resourceVersion": top + "1"},
		top:        value,
	}}
}

func configMap(data map[string]string) *corev1.ConfigMap { return &corev1.ConfigMap{Data: data} }

func replicaSet(replicas *int32, image string, more ...corev1.Container) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: replicas}}
	rs.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "web", Image: image}}, more...)
	return rs
}

func conditions(types ...string) *corev1.Pod {
	p := &corev1.Pod{}
	for _, t := range types {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(t)})
	}
	return p
}

func blocking(block bool) *corev1.Pod {
	r := ownedBy(set)
	r.BlockOwnerDeletion = &block
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", OwnerReferences: []metav1.OwnerReference{r}}}
}

// A changed field is shown with its old and its new value, for Go structs and for custom resources.
func TestChangedFields(t *testing.T) {
	long := strings.Repeat("x", 60)
	many := map[string]string{}
	for _, k := range strings.Split("abcdefghij", "") {
		many[k] = "1"
	}
	for _, c := range []struct {
		name          string
		before, after any
		verb, want    string
	}{
		{"a value of a map", configMap(map[string]string{"v": "1"}), configMap(map[string]string{"v": "2"}), "",
			`data.v: "1" -> "2"`},
		{"a key that comes and one that goes", configMap(map[string]string{"a": "1"}),
			configMap(map[string]string{"b": "1"}), "", `data.a: "1" -> none, data.b: none -> "1"`},
		{"a key with dots", configMap(map[string]string{"app.conf": "1"}), configMap(nil), "",
			`data[app.conf]: "1" -> none`},
		{"a long list in another order",
			replicaSet(nil, "i", corev1.Container{Name: long}, corev1.Container{Name: "b"}),
			replicaSet(nil, "i", corev1.Container{Name: "b"}, corev1.Container{Name: long}), "",
			"spec.template.spec.containers: web " + long + " b -> web b " + long},
		{"conditions in the order of the list", conditions(), conditions("Ready", "Initialized"), "status",
			`conditions[Ready]: none -> {"type":"Ready","status":"","lastProbeTi..., conditions[Initialized]: none ` +
				`-> {"type":"Initialized","status":"","lastP...`},
		{"replicas", replicaSet(ptr(int32(3)), "i"), replicaSet(ptr(int32(1)), "i"), "scale", "replicas: 3 -> 1"},
		{"replicas that were not set", replicaSet(nil, "i"), replicaSet(ptr(int32(0)), "i"), "scale",
			"replicas: none -> 0"},
		{"an entry of a list with names", replicaSet(nil, "a:1"), replicaSet(nil, "a:2"), "",
			`spec.template.spec.containers[web].image: "a:1" -> "a:2"`},
		{"an entry more", replicaSet(nil, "a"), replicaSet(nil, "a", corev1.Container{Name: "log"}), "",
			`spec.template.spec.containers[log]: none -> {"name":"log","resources":{}}`},
		{"long values that begin alike", configMap(map[string]string{"v": long + "1"}),
			configMap(map[string]string{"v": long + "2"}), "", `data.v: ...xxxxxxxx1" -> ...xxxxxxxx2"`},
		{"a long value", configMap(nil), configMap(map[string]string{"v": long}), "",
			`data.v: none -> "` + long[:39] + "..."},
		{"more fields than are shown", configMap(nil), configMap(many), "",
			`data.a: none -> "1", data.b: none -> "1", data.c: none -> "1", data.d: none -> "1", ` +
				`data.e: none -> "1", data.f: none -> "1", 4 more fields`},
		{"a custom field", widget("spec", map[string]any{"size": int64(1)}),
			widget("spec", map[string]any{"size": int64(2)}), "", "spec.size: 1 -> 2"},
		{"a custom field of another type", widget("spec", map[string]any{"size": int64(1)}),
			widget("spec", map[string]any{"size": "big"}), "", `spec.size: 1 -> "big"`},
		{"custom replicas", widget("spec", map[string]any{"replicas": int64(3)}),
			widget("spec", map[string]any{"replicas": int64(1)}), "scale", "replicas: 3 -> 1"},
		{"a custom list of values", widget("spec", map[string]any{"hosts": []any{"a", "b"}}),
			widget("spec", map[string]any{"hosts": []any{"b"}}), "", `spec.hosts: ["a","b"] -> ["b"]`},
		{"a custom list with names",
			widget("spec", map[string]any{"rules": []any{map[string]any{"name": "a", "n": int64(1)}}}),
			widget("spec", map[string]any{"rules": []any{map[string]any{"name": "a", "n": int64(2)}}}), "",
			"spec.rules[a].n: 1 -> 2"},
		{"a custom list without", widget("spec", map[string]any{"rules": []any{map[string]any{"n": int64(1)}}}),
			widget("spec",
				map[string]any{"rules": []any{map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}}}), "",
			`spec.rules[1]: none -> {"n":2}`},
		{"a list in another order", replicaSet(nil, "a", corev1.Container{Name: "log"}), func() any {
			rs := replicaSet(nil, "a", corev1.Container{Name: "log"})
			cs := rs.Spec.Template.Spec.Containers
			cs[0], cs[1] = cs[1], cs[0]
			return rs
		}(), "", "spec.template.spec.containers: web log -> log web"},
		{"an owner that is let go", blocking(true), blocking(false), "",
			"blocks the deletion of rs/web-1: true -> false"},
		{"unique ids", configMap(map[string]string{"u": "b0506dd6-4d5c-4202-890d-7e33257417d9"}), configMap(nil), "",
			`data.u: "(uid)" -> none`},
		{"nothing", configMap(nil), configMap(map[string]string{}), "", "nothing changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &sim.Record{Op: sim.Commit, Process: "p", Verb: "update", Before: c.before, After: c.after}
			got := render.ChangeOf(r)
			countsAlike(t, r)
			if c.verb == "" {
				c.verb = "update"
			}
			if got.Verb != c.verb || got.Detail != c.want {
				t.Errorf("%s %s\nwant %s %s", got.Verb, got.Detail, c.verb, c.want)
			}
		})
	}
}

// The renewal of a lease is noise. A change of the holder is not.
func TestLeases(t *testing.T) {
	lease := func(holder, renewed string) any {
		return widget("spec", map[string]any{"holderIdentity": holder, "renewTime": renewed})
	}
	for _, c := range []struct {
		after any
		verb  string
		noise bool
	}{
		{lease("a", "later"), "renew", true},
		{lease("b", "later"), "update", false},
	} {
		r := &sim.Record{Op: sim.Commit, Process: "manager", Verb: "update", Object: sim.Ref{Kind: "Lease"},
			Before: lease("a", "now"), After: c.after}
		if got := render.ChangeOf(r); got.Verb != c.verb || got.Noise != c.noise {
			t.Errorf("%s, noise %v; want %s, %v", got.Verb, got.Noise, c.verb, c.noise)
		}
		countsAlike(t, r)
	}
}

// countsAlike checks that VerbOf and ChangeOf agree about a record, for any writer and subresource.
func countsAlike(t *testing.T, r *sim.Record) {
	t.Helper()
	for _, sub := range []string{"", "status"} {
		for _, process := range []string{"p", "user"} {
			r := *r
			r.Subresource, r.Process = sub, process
			full, short := render.ChangeOf(&r), render.VerbOf(&r)
			if full.Verb != short.Verb || full.Noise != short.Noise {
				t.Errorf("by %s, subresource %q: counted as %s, %v; is %s, %v", process, sub, short.Verb, short.Noise,
					full.Verb, full.Noise)
			}
		}
	}
}
