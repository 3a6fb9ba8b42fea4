package controllers_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// define has the server serve Widgets.
func (c *cluster) define() {
	c.t.Helper()
	open := true
	c.create(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: widget.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget",
				Kind: widget.Kind, ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: widget.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &open}},
			}},
		},
	})
}

// ownedWidget creates a Widget and a ConfigMap that it owns.
func (c *cluster) ownedWidget(namespace, name string) {
	c.t.Helper()
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widget)
	w.SetNamespace(namespace)
	w.SetName(name)
	c.create(w)
	owner := c.Server.Lookup(c.Server.Kind(widget), namespace, name).(metav1.Object)
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, widget)}}})
}

// A kind that is defined while the collector runs is collected as any other:
// its objects own, and may be deleted in every way.
func TestCollectorTakesUpNewKinds(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground,
		metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			c := newCluster(t, sim.Zero{}, "garbagecollector")
			defer c.Stop()
			c.settle()
			c.define()
			c.settle()
			c.ownedWidget("default", "w")
			c.settle()
			c.delete("widget", "w", metav1.DeleteOptions{PropagationPolicy: &policy})
			c.settle()
			if o := c.Server.Lookup(c.Server.Kind(widget), "default", "w"); o != nil {
				t.Errorf("the owner is still there: %v", o)
			}
			left, _ := c.Server.Lookup(c.Server.KindNamed("cm"), "default", "w").(*corev1.ConfigMap)
			switch {
			case policy == metav1.DeletePropagationOrphan && (left == nil || len(left.OwnerReferences) > 0):
				t.Errorf("the orphan is %v", left)
			case policy != metav1.DeletePropagationOrphan && left != nil:
				t.Errorf("the dependent is still there: %v", left)
			}
		})
	}
}

// A custom resource takes no strategic merge patch: where a cycle is broken up, all its
// references are said not to block, those included that said nothing.
func TestCycleOfCustomResources(t *testing.T) {
	c := newCluster(t, sim.Zero{})
	c.define()
	for _, name := range []string{"a", "b", "z", "y"} {
		c.widget(name)
	}
	yes, foreground := true, metav1.DeletePropagationForeground
	c.ownWidget("b", []string{"example.com/hold"}, c.widgetRef("a", &yes), c.widgetRef("z", nil))
	c.ownWidget("y", []string{"example.com/hold"}, c.widgetRef("z", &yes))
	c.ownWidget("a", nil, c.widgetRef("b", &yes))
	for _, name := range []string{"a", "z"} {
		c.delete("widget", name, metav1.DeleteOptions{PropagationPolicy: &foreground})
	}
	c.start("garbagecollector")
	c.settle()
	for _, r := range c.Server.Lookup(c.Server.Kind(widget), "default", "b").(metav1.Object).GetOwnerReferences() {
		if r.BlockOwnerDeletion == nil || *r.BlockOwnerDeletion {
			t.Errorf("the reference to %s is %+v", r.Name, r)
		}
	}
}

// widget creates a Widget.
func (c *cluster) widget(name string) {
	c.t.Helper()
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widget)
	w.SetNamespace("default")
	w.SetName(name)
	c.create(w)
}

// widgetRef is a reference to a Widget.
func (c *cluster) widgetRef(name string, blocks *bool) metav1.OwnerReference {
	uid := c.Server.Lookup(c.Server.Kind(widget), "default", name).(metav1.Object).GetUID()
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: widget.Kind, Name: name, UID: uid,
		BlockOwnerDeletion: blocks}
}

// ownWidget gives a Widget owners and finalizers.
func (c *cluster) ownWidget(name string, finalizers []string, owners ...metav1.OwnerReference) {
	c.t.Helper()
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"ownerReferences": owners, "finalizers": finalizers}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.patch("widget", name, string(data))
}

// A namespace does not go before the objects in it, whenever their kind was
// defined.
func TestNamespaceTakesUpNewKinds(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "namespace")
	defer c.Stop()
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n2"}})
	c.settle()
	c.define()
	c.ownedWidget("n2", "g")
	c.settle()
	c.delete("namespace", "n2", metav1.DeleteOptions{})
	c.settle()
	if o := c.Server.Lookup(c.Server.KindNamed("namespace"), "", "n2"); o != nil {
		t.Errorf("the namespace is still there: %v", o)
	}
	if o := c.Server.Lookup(c.Server.Kind(widget), "n2", "g"); o != nil {
		t.Errorf("the namespace is gone, and its widget is still there: %v", o)
	}
}
