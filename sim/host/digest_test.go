package host

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Abstract digests exclude what differs between two rounds of a fight. Exact digests exclude only the resource
// version. The rules are the same for typed and unstructured objects.
func TestBothEncodingsLeaveOutTheSame(t *testing.T) {
	yes := true
	base := metav1.ObjectMeta{Name: "a", GenerateName: "a-", Namespace: "ns", UID: "u1", ResourceVersion: "7", Generation: 1,
		Labels:          map[string]string{"l": "1"},
		Annotations:     map[string]string{createdByAnnotation: "x", "other": "y"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "K", Name: "o", UID: "o1", Controller: &yes}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m"}}}
	for _, c := range []struct {
		name            string
		edit            func(m *metav1.ObjectMeta)
		exact, abstract bool // whether the digest includes the field
	}{
		{"resourceVersion", func(m *metav1.ObjectMeta) { m.ResourceVersion = "8" }, false, false},
		{"uid", func(m *metav1.ObjectMeta) { m.UID = "u2" }, true, false},
		{"generation", func(m *metav1.ObjectMeta) { m.Generation = 2 }, true, false},
		{"creationTimestamp", func(m *metav1.ObjectMeta) { m.CreationTimestamp = metav1.Time{Time: sim.Epoch} }, true,
			false},
		{"managedFields", func(m *metav1.ObjectMeta) { m.ManagedFields[0].Manager = "n" }, true, false},
		{"created-by", func(m *metav1.ObjectMeta) { m.Annotations[createdByAnnotation] = "z" }, true, false},
		{"another annotation", func(m *metav1.ObjectMeta) { m.Annotations["other"] = "z" }, true, true},
		{"the owner's uid", func(m *metav1.ObjectMeta) { m.OwnerReferences[0].UID = "o2" }, true, false},
		{"the owner", func(m *metav1.ObjectMeta) { m.OwnerReferences[0].Name = "p" }, true, true},
		{"controller", func(m *metav1.ObjectMeta) { m.OwnerReferences[0].Controller = nil }, true, true},
		{"deletion", func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{Time: sim.Epoch} }, true, true},
		{"a generated name", func(m *metav1.ObjectMeta) { m.Name = "b" }, true, false},
		{"a given name", func(m *metav1.ObjectMeta) { m.Name, m.GenerateName = "b", "" }, true, true},
		{"labels", func(m *metav1.ObjectMeta) { m.Labels["l"] = "2" }, true, true},
		{"finalizers", func(m *metav1.ObjectMeta) { m.Finalizers = []string{"f"} }, true, true},
	} {
		for encoding, encode := range map[string]func(m *metav1.ObjectMeta) *version{
			"typed": func(m *metav1.ObjectMeta) *version {
				return newVersion(1, "k", 1, &corev1.ConfigMap{ObjectMeta: *m})
			},
			"unstructured": func(m *metav1.ObjectMeta) *version { return newVersion(1, "k", 1, loose(t, *m)) },
		} {
			before := encode(base.DeepCopy())
			m := base.DeepCopy()
			c.edit(m)
			after := encode(m)
			if before.exact != after.exact != c.exact || before.abstract != after.abstract != c.abstract {
				t.Errorf("%s, %s: exact includes it: %v, want %v; abstract includes it: %v, want %v", c.name, encoding,
					before.exact != after.exact, c.exact, before.abstract != after.abstract, c.abstract)
			}
		}
	}
	empty := newVersion(1, "k", 1, &corev1.ConfigMap{})
	full := newVersion(1, "k", 1, &corev1.ConfigMap{Data: map[string]string{"a": ""}})
	if empty.exact == full.exact || empty.abstract == full.abstract {
		t.Error("a field outside the metadata does not change the digests")
	}
}

func TestTreesAreEncodedLikeJSON(t *testing.T) {
	tree := map[string]any{"b": []any{int64(-1), 1.5, true, nil, "a\"\\<&>\x7f\u2028é", []any(nil)}, "a<": "ok",
		"c": map[string]any{}, "d": map[string]any(nil)}
	if want, _ := json.Marshal(tree); string(appendJSON(nil, tree)) != string(want) {
		t.Errorf("encoded as %s, want %s", appendJSON(nil, tree), want)
	}
}

// loose returns an unstructured object of a custom kind.
func loose(t *testing.T, m metav1.ObjectMeta) *unstructured.Unstructured {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.ConfigMap{ObjectMeta: m})
	if err != nil {
		t.Fatal(err)
	}
	tree["apiVersion"], tree["kind"] = "example.com/v1", "Widget"
	return &unstructured.Unstructured{Object: tree}
}

// Two independent creates lead to the same state in either order, for typed and unstructured objects.
func TestIndependentCreatesCommute(t *testing.T) {
	other := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}}
	for name, obj := range map[string]runtime.Object{
		"typed": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}},
		"custom": &unstructured.Unstructured{
			Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
				"metadata": map[string]any{"namespace": "default", "name": "one"}}},
	} {
		var states [2]uint64
		for order := range states {
			c := withWidgets(t)
			list := []runtime.Object{obj.DeepCopyObject(), other.DeepCopy()}
			for i := range list {
				mustCreate(t, c, list[i^order])
			}
			states[order] = c.World().StateHash()
		}
		if states[0] != states[1] {
			t.Errorf("%s: %016x in one order, %016x in the other", name, states[0], states[1])
		}
	}
}

// withWidgets returns a cluster with a custom kind.
func withWidgets(t *testing.T) *Cluster {
	c := NewCluster(sim.New(sim.Zero{}), fakeapi.New(fakeapi.Options{}))
	preserve := true
	mustCreate(t, c, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget",
				ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
						XPreserveUnknownFields: &preserve}}}}},
	})
	return c
}

func mustCreate(t *testing.T, c *Cluster, obj runtime.Object) {
	t.Helper()
	gvk := obj.GetObjectKind().GroupVersionKind()
	k := c.Server().KindOf(obj)
	if k == nil {
		k = c.Server().Kind(
			schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	}
	if k == nil {
		t.Fatalf("%T %s is not served", obj, gvk)
	}
	m := obj.(metav1.Object)
	r := c.As("user",
		&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
}

// Digests include whether a deletion is a tombstone, and how often a key has failed.
func TestWhatTheFutureDependsOnIsDigested(t *testing.T) {
	v := newVersion(1, "k", 1, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: types.UID("u")}})
	digest := func(c change) (h sim.Hash) { c.digest(&h); return h }
	if digest(change{before: v}) == digest(change{before: v, tombstone: true}) {
		t.Error("a tombstone has the same digest as a seen deletion")
	}
	var clock sim.Clock
	q := newQueue(&clock, "p", Backoff{}, func(string, bool) {})
	state := func() (h sim.Hash) { q.digest(&h); return h }
	for _, at := range []struct {
		name string
		do   func()
	}{{"waits", func() {}}, {"is dirty", func() { q.Add("k"); q.Get(); q.Add("k") }},
		{"is in work", func() { q.Get() }}} {
		q.Add("k")
		at.do()
		before := state()
		q.limiter.When("k")
		if state() == before {
			t.Errorf("the digest does not include a failure of a key that %s", at.name)
		}
		for q.Len() > 0 {
			q.Get()
		}
		q.Done("k")
		q.Forget("k")
		for q.Len() > 0 {
			q.Get()
			q.Done("k")
		}
	}
}

// A digest counts failures of a key only until its delay no longer increases. This number depends on the backoff.
func TestBackoffSteps(t *testing.T) {
	for b, want := range map[Backoff]int{
		usual: 18, {time.Second, time.Minute}: 6, {time.Second, time.Second}: 0, {}: 0,
	} {
		q := newQueue(new(sim.Clock), "p", b, func(string, bool) {})
		if b.steps() != want {
			t.Errorf("%v grows for %d failures, want %d", b, b.steps(), want)
		}
		if b == (Backoff{}) {
			continue
		}
		for range want {
			q.limiter.When("k")
		}
		if d := q.limiter.When("k"); d != b.Longest {
			t.Errorf("%v after %d failures: waits %v", b, want, d)
		}
	}
}
