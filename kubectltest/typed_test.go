package kubectltest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

func pod(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
	}
}

func replicaSet(name string, replicas int32) *appsv1.ReplicaSet {
	labels := map[string]string{"app": name}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("", nil).Spec}},
	}
}

// must is for calls whose failure ends a test.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func typedLife(t *testing.T, ctx context.Context, c kubernetes.Interface) {
	rs := must(c.AppsV1().ReplicaSets("default").Create(ctx, replicaSet("web", 1), metav1.CreateOptions{}))(t)
	pods := c.CoreV1().Pods("default")
	w := must(pods.Watch(ctx, metav1.ListOptions{LabelSelector: "app=web"}))(t)
	defer w.Stop()
	p := must(pods.Create(ctx, pod("web-0", map[string]string{"app": "web"}), metav1.CreateOptions{}))(t)
	stale := p.DeepCopy()

	adopt := fmt.Sprintf(
		`{"metadata":{"uid":%q,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":%q,"controller":true,"blockOwnerDeletion":true}]}}`, p.UID, rs.UID)
	p = must(pods.Patch(ctx, "web-0", types.StrategicMergePatchType, []byte(adopt), metav1.PatchOptions{}))(t)
	if !metav1.IsControlledBy(p, rs) {
		t.Errorf("after the patch the controller is %v", metav1.GetControllerOf(p))
	}
	other := strings.ReplaceAll(adopt, string(rs.UID), "5c2fd0a8-0000-4000-8000-000000000000")
	_, err := pods.Patch(ctx, "web-0", types.StrategicMergePatchType, []byte(other), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("a second controller is answered with %v", err)
	}
	stale.Labels["late"] = "yes"
	if _, err := pods.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a stale update is answered with %v", err)
	}
	p.Status.Phase = corev1.PodRunning
	p = must(pods.UpdateStatus(ctx, p, metav1.UpdateOptions{}))(t)
	if p.Status.Phase != corev1.PodRunning {
		t.Errorf("phase %q after UpdateStatus", p.Status.Phase)
	}
	scale := must(c.AppsV1().ReplicaSets("default").GetScale(ctx, "web", metav1.GetOptions{}))(t)
	scale.Spec.Replicas = 3
	got := must(c.AppsV1().ReplicaSets("default").UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}))(t)
	if got.Spec.Replicas != 3 {
		t.Errorf("replicas %d after UpdateScale", got.Spec.Replicas)
	}
	applied := must(
		c.AppsV1().ReplicaSets("default").Apply(ctx,
			applyapps.ReplicaSet("web", "default").WithLabels(map[string]string{"tier": "front"}),
			metav1.ApplyOptions{FieldManager: "test"}))(t)
	if applied.Labels["tier"] != "front" || *applied.Spec.Replicas != 3 {
		t.Errorf("Apply made labels %v, replicas %d", applied.Labels, *applied.Spec.Replicas)
	}
	wrong := types.UID("5c2fd0a8-0000-4000-8000-000000000000")
	err = pods.Delete(ctx, "web-0", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	if !apierrors.IsConflict(err) {
		t.Errorf("a delete of another uid is answered with %v", err)
	}
	err = pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Error(err)
	}
	if _, err := pods.Get(ctx, "web-0", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after its deletion it is answered with %v", err)
	}
	// The end of a Pod's graceful deletion is a change of its own before the last.
	wantEvents(t, w, watch.Added, watch.Modified, watch.Modified, watch.Modified, watch.Deleted)
}

// wantEvents reads that many events.
func wantEvents(t *testing.T, w watch.Interface, want ...watch.EventType) {
	t.Helper()
	var got []watch.EventType
	for range want {
		select {
		case e := <-w.ResultChan():
			got = append(got, e.Type)
		case <-time.After(time.Minute):
			t.Fatalf("events %v, and then nothing; want %v", got, want)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestLoopback speaks over a socket, with compressed answers, in real time.
func TestLoopback(t *testing.T) {
	server := httptest.NewServer(httpapi.New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := must(kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1}))(t)
	typedLife(t, ctx, c)
	labels := map[string]string{"why": strings.Repeat("x", 60)}
	for i := range 200 { // enough for gzip
		must(c.CoreV1().Pods("default").Create(ctx, pod(fmt.Sprintf("p-%03d", i), labels), metav1.CreateOptions{}))(t)
	}
	list := must(c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}))(t)
	if len(list.Items) != 200 {
		t.Errorf("%d pods listed", len(list.Items))
	}
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1/pods", http.NoBody))(t)
	r.Header.Set("Accept-Encoding", "gzip")
	resp := must(server.Client().Do(r))(t)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("200 pods are encoded as %q", got)
	}
}

// TestDiscoveryClient reads what is served in the old and the aggregated form,
// and maps what a person types.
func TestDiscoveryClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		d := must(discovery.NewDiscoveryClientForConfig(s.config()))(t)
		_, aggregated, err := d.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		d.UseLegacyDiscovery = true
		_, legacy, err := d.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := resourceNames(aggregated), resourceNames(legacy); !slices.Equal(a, b) {
			t.Errorf("aggregated and old discovery differ:\n%s",
				unified("aggregated", "old", strings.Join(a, "\n"), strings.Join(b, "\n")))
		}
		if v := must(d.ServerVersion())(t); v.GitVersion != "v1.36.3" {
			t.Errorf("version %s", v.GitVersion)
		}
		mapper := restmapper.NewDiscoveryRESTMapper(must(restmapper.GetAPIGroupResources(d))(t))
		kind := must(mapper.KindFor(schema.GroupVersionResource{Resource: "replicasets"}))(t)
		if kind != appsv1.SchemeGroupVersion.WithKind("ReplicaSet") {
			t.Errorf("replicasets are of kind %v", kind)
		}
	})
}

func resourceNames(lists []*metav1.APIResourceList) []string {
	var names []string
	for _, l := range lists {
		for _, r := range l.APIResources {
			names = append(names, fmt.Sprintf("%s %s %v %v %v", l.GroupVersion, r.Name, r.Kind, r.Namespaced, r.Verbs))
		}
	}
	slices.Sort(names)
	return names
}

// TestOpenAPI reads both versions of the documents through the client.
func TestOpenAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		d := must(discovery.NewDiscoveryClientForConfig(s.config()))(t)
		v2 := must(d.OpenAPISchema())(t)
		if n := len(v2.GetDefinitions().GetAdditionalProperties()); n < 100 {
			t.Errorf("version 2 has %d definitions", n)
		}
		paths := must(d.OpenAPIV3().Paths())(t)
		for _, path := range []string{"api/v1", "apis/apps/v1"} {
			if paths[path] == nil {
				t.Fatalf("version 3 has no document for %s", path)
			}
			must(paths[path].Schema("application/json"))(t)
		}
	})
}
