package controllers_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// refs parses owners: "NAME UID", with a "!" in front if the reference blocks. All are ConfigMaps.
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

func (c *cluster) config(namespace, name string, finalizers []string, owners ...metav1.OwnerReference) string {
	c.t.Helper()
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: finalizers,
			OwnerReferences: owners}}
	obj := c.do(
		&fakeapi.Request{Verb: fakeapi.Create, Kind: c.Server.KindOf(cm), Namespace: namespace, Name: name, Object: cm})
	return string(obj.(*corev1.ConfigMap).UID)
}

// If an object has several references into another namespace, only the first one causes an Event.
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
		t.Errorf("events about references: %q", messages)
	}
}

// An object that existed before the history began can be an owner, such as a namespace.
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

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

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

func (c *cluster) widget(name string) {
	c.t.Helper()
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widget)
	w.SetNamespace("default")
	w.SetName(name)
	c.create(w)
}

func (c *cluster) widgetRef(name string, blocks *bool) metav1.OwnerReference {
	uid := c.Server.Lookup(c.Server.Kind(widget), "default", name).(metav1.Object).GetUID()
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: widget.Kind, Name: name, UID: uid,
		BlockOwnerDeletion: blocks}
}

func (c *cluster) ownWidget(name string, finalizers []string, owners ...metav1.OwnerReference) {
	c.t.Helper()
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"ownerReferences": owners, "finalizers": finalizers}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.patch("widget", name, string(data))
}

// A change of a claim enqueues no set if the claim's pod exists. The set's next reconcile corrects the claim.
func TestClaimsOfPodsEnqueueNothing(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "statefulset@current", "persistentvolumeclaim-protection")
	c.create(claimSet())
	c.settle()
	claim := func() *corev1.PersistentVolumeClaim {
		claim, _ := c.Server.Lookup(c.Server.KindNamed("pvc"), "default", "data-web-0").(*corev1.PersistentVolumeClaim)
		return claim
	}
	c.patch("pvc", "data-web-0", `{"metadata":{"ownerReferences":null}}`)
	c.settle()
	if len(claim().OwnerReferences) > 0 {
		t.Error("the claim gets its owner again at once")
	}
	c.delete("pvc", "data-web-0", metav1.DeleteOptions{})
	c.settle()
	if claim() != nil {
		t.Error("the claim is recreated at once")
	}
	c.patch("statefulset", "web", `{"metadata":{"labels":{"touched":"yes"}}}`)
	c.settle()
	if claim() == nil || len(claim().OwnerReferences) != 1 {
		t.Errorf("the claim is %+v", claim())
	}
}

// claimSet returns a StatefulSet with a claim for each pod. The claims are deleted with the set.
func claimSet() *appsv1.StatefulSet {
	template := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	template.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	template.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	set := eraWorlds["statefulset"].object("web", "x", 1).(*appsv1.StatefulSet)
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{template}
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	return set
}
