package kubectltest

import (
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

// TestDynamicClient lists in chunks on one snapshot, applies, and watches.
func TestDynamicClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		pods := must(dynamic.NewForConfig(s.config()))(t).Resource(podResource).Namespace("default")
		object := func(name string) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name},
				"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "nginx"}}},
			}}
		}
		for _, name := range []string{"a", "b", "c"} {
			must(pods.Create(s.ctx, object(name), metav1.CreateOptions{}))(t)
		}
		first := must(pods.List(s.ctx, metav1.ListOptions{Limit: 2}))(t)
		must(pods.Create(s.ctx, object("d"), metav1.CreateOptions{}))(t)
		second := must(pods.List(s.ctx, metav1.ListOptions{Limit: 2, Continue: first.GetContinue()}))(t)
		if len(first.Items) != 2 || len(second.Items) != 1 || second.Items[0].GetName() != "c" ||
			second.GetResourceVersion() != first.GetResourceVersion() {
			t.Errorf("chunks of %d and %d items at %s and %s", len(first.Items), len(second.Items),
				first.GetResourceVersion(), second.GetResourceVersion())
		}
		w := must(pods.Watch(s.ctx, metav1.ListOptions{ResourceVersion: first.GetResourceVersion()}))(t)
		defer w.Stop()
		applied := object("a")
		applied.SetLabels(map[string]string{"app": "web"})
		got := must(pods.Apply(s.ctx, "a", applied, metav1.ApplyOptions{FieldManager: "test"}))(t)
		if got.GetLabels()["app"] != "web" {
			t.Errorf("Apply made labels %v", got.GetLabels())
		}
		_, err := pods.Apply(s.ctx, "a", withImage(applied, "other"), metav1.ApplyOptions{FieldManager: "somebody"})
		if !apierrors.IsConflict(err) {
			t.Errorf("an apply of another's field is answered with %v", err)
		}
		if err := pods.Delete(s.ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		wantEvents(t, w, watch.Added, watch.Modified, watch.Modified, watch.Deleted)
	})
}

func withImage(obj *unstructured.Unstructured, image string) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "containers")
	containers[0].(map[string]any)["image"] = image
	unstructured.SetNestedSlice(obj.Object, containers, "spec", "containers")
	return obj
}

// TestMetadataClient reads and patches objects of which it knows no type.
func TestMetadataClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		must(must(kubernetes.NewForConfig(s.config()))(t).CoreV1().Pods("default").Create(s.ctx, pod("p", nil),
			metav1.CreateOptions{}))(t)
		pods := must(metadata.NewForConfig(s.config()))(t).Resource(podResource).Namespace("default")
		got := must(pods.Get(s.ctx, "p", metav1.GetOptions{}))(t)
		if got.Name != "p" || got.UID == "" {
			t.Errorf("got %v", got)
		}
		w := must(pods.Watch(s.ctx, metav1.ListOptions{ResourceVersion: got.ResourceVersion}))(t)
		defer w.Stop()
		got = must(pods.Patch(s.ctx, "p", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"web"}}}`),
			metav1.PatchOptions{}))(t)
		list := must(pods.List(s.ctx, metav1.ListOptions{LabelSelector: "app=web"}))(t)
		if len(list.Items) != 1 || list.Items[0].ResourceVersion != got.ResourceVersion {
			t.Errorf("listed %v", list.Items)
		}
		if err := pods.Delete(s.ctx, "p", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		wantEvents(t, w, watch.Modified, watch.Modified, watch.Deleted)
	})
}
