package controllermanager_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func deployment(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: named(name),
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(name), Template: template(name)}}
}

func rolledOut(t *testing.T, ns, name string) {
	t.Helper()
	it.until(t, "the rollout", func() (bool, any) {
		d := must(it.AppsV1().Deployments(ns).Get(ctx, name, metav1.GetOptions{}))
		n, s := *d.Spec.Replicas, d.Status
		return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == n && s.AvailableReplicas == n &&
			s.Replicas == n, d.Status
	})
}

func gone[T any](t *testing.T, what string, get func() (T, error)) {
	t.Helper()
	it.until(t, what+" gone", func() (bool, any) {
		obj, err := get()
		return apierrors.IsNotFound(err), obj
	})
}

func TestNamespaceDeletion(t *testing.T) {
	ns := it.namespace(t)
	must(it.AppsV1().Deployments(ns).Create(ctx, deployment("web", 2), metav1.CreateOptions{}))
	rolledOut(t, ns, "web")
	must(it.dynamic.Resource(widgets).Namespace(ns).Create(ctx, custom("Widget", "w"), metav1.CreateOptions{}))
	if err := it.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the namespace", func() (any, error) { return it.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{}) })
	left := must(it.dynamic.Resource(widgets).List(ctx, metav1.ListOptions{}))
	for _, w := range left.Items {
		if w.GetNamespace() == ns {
			t.Errorf("%s still exists after its namespace is gone", w.GetName())
		}
	}
}

// kinds are the CRDs that exist before the controllers start, because the garbage collector looks for new kinds only
// every half minute. One test deletes the second CRD.
var kinds = map[string]string{"widgets": "Widget", "gadgets": "Gadget"}

var (
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	gadgets     = widgets.GroupVersion().WithResource("gadgets")
	definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

func custom(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind,
		"metadata": map[string]any{"name": name}}}
}

func define(c *cluster) {
	for plural, kind := range kinds {
		d := &apiextensionsv1.CustomResourceDefinition{
			TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(),
				Kind: "CustomResourceDefinition"},
			ObjectMeta: named(plural + ".example.com"),
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{
						OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}}}}
		raw := must(runtime.DefaultUnstructuredConverter.ToUnstructured(d))
		must(c.dynamic.Resource(definitions).Create(ctx, &unstructured.Unstructured{Object: raw},
			metav1.CreateOptions{}))
	}
}

// The deletion of a CRD deletes its objects and their dependents.
func TestDefinitionDeletion(t *testing.T) {
	ns := it.namespace(t)
	w := must(it.dynamic.Resource(gadgets).Namespace(ns).Create(ctx, custom("Gadget", "w"), metav1.CreateOptions{}))
	owned := named("owned")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Gadget", Name: "w",
		UID: w.GetUID()}}
	must(it.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: owned}, metav1.CreateOptions{}))
	if err := it.dynamic.Resource(definitions).Delete(ctx, "gadgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the definition", func() (any, error) {
		return it.dynamic.Resource(definitions).Get(ctx, "gadgets.example.com", metav1.GetOptions{})
	})
	gone(t, "what the object owned", func() (any, error) {
		return it.CoreV1().ConfigMaps(ns).Get(ctx, "owned", metav1.GetOptions{})
	})
}

func TestQuota(t *testing.T) {
	ns := it.namespace(t)
	must(it.CoreV1().ResourceQuotas(ns).Create(ctx, &corev1.ResourceQuota{ObjectMeta: named("q"),
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}}},
		metav1.CreateOptions{}))
	used := func(n int64) {
		t.Helper()
		it.until(t, "the quota counted", func() (bool, any) {
			q := must(it.CoreV1().ResourceQuotas(ns).Get(ctx, "q", metav1.GetOptions{}))
			have, ok := q.Status.Used[corev1.ResourcePods]
			return ok && have.Value() == n && len(q.Status.Hard) == 1, q.Status
		})
	}
	used(0)
	must(it.AppsV1().Deployments(ns).Create(ctx, deployment("web", 3), metav1.CreateOptions{}))
	it.until(t, "the refusal told", func() (bool, any) {
		sets := must(it.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{}))
		if len(sets.Items) != 1 || sets.Items[0].Status.Replicas != 2 {
			return false, sets.Items
		}
		for _, c := range sets.Items[0].Status.Conditions {
			if strings.Contains(c.Message, "exceeded quota: q") {
				return true, nil
			}
		}
		return false, sets.Items
	})
	used(2)
	pods := must(it.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{}))
	if len(pods.Items) != 2 {
		t.Errorf("%d Pods exist, the quota is 2", len(pods.Items))
	}
	if err := it.AppsV1().Deployments(ns).Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	used(0)
}
