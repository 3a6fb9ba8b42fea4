package controllers_test

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// define makes the server serve Widgets.
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

// A custom resource supports no strategic merge patch. When a cycle is broken, all its references become non-blocking,
// also those without a value.
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
