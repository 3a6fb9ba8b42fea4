package controllermanager_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func deployment(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: named(name),
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(name), Template: template(name)}}
}

// rolledOut waits until a Deployment has what it wants, and nothing else.
func rolledOut(t *testing.T, ns, name string) {
	t.Helper()
	it.until(t, "the rollout", func() (bool, any) {
		d := must(it.AppsV1().Deployments(ns).Get(ctx, name, metav1.GetOptions{}))
		n, s := *d.Spec.Replicas, d.Status
		return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == n && s.AvailableReplicas == n &&
			s.Replicas == n, d.Status
	})
}

func TestRollout(t *testing.T) {
	ns := it.namespace(t)
	must(it.AppsV1().Deployments(ns).Create(ctx, deployment("web", 3), metav1.CreateOptions{}))
	rolledOut(t, ns, "web")
	must(it.AppsV1().Deployments(ns).Patch(ctx, "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}`), metav1.PatchOptions{}))
	rolledOut(t, ns, "web")
	it.until(t, "the old ReplicaSet scaled down", func() (bool, any) {
		sets := must(it.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{}))
		down := 0
		for _, rs := range sets.Items {
			if rs.Status.Replicas == 0 && rs.Status.ObservedGeneration == rs.Generation {
				down++
			}
		}
		return len(sets.Items) == 2 && down == 1, sets.Items
	})
	it.shows(t, "/apis/apps/v1/namespaces/"+ns+"/deployments", `
NAME  READY  UP-TO-DATE  AVAILABLE
web   3/3    3           3
`)
}

func TestJob(t *testing.T) {
	ns := it.namespace(t)
	j := &batchv1.Job{ObjectMeta: named("work"), Spec: batchv1.JobSpec{Completions: ptr(int32(3)),
		Parallelism: ptr(int32(2)), Template: template("work")}}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	must(it.BatchV1().Jobs(ns).Create(ctx, j, metav1.CreateOptions{}))
	completed(t, ns, "work")
	pods := must(it.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{}))
	if len(pods.Items) != 3 {
		t.Errorf("%d Pods, want 3", len(pods.Items))
	}
	for _, p := range pods.Items {
		if len(p.Finalizers) > 0 {
			t.Errorf("%s is still to be counted: %q", p.Name, p.Finalizers)
		}
	}
}

func completed(t *testing.T, ns, name string) {
	t.Helper()
	it.until(t, "the Job complete", func() (bool, any) {
		j := must(it.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{}))
		for _, c := range j.Status.Conditions {
			if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
				return true, nil
			}
		}
		return false, j.Status
	})
}

// A CronJob that has missed its time makes up for it at once: nobody waits for a minute
// to begin.
func TestCronJob(t *testing.T) {
	ns := it.namespace(t)
	c := &batchv1.CronJob{ObjectMeta: named("yearly"), Spec: batchv1.CronJobSpec{Schedule: "0 0 1 1 *",
		Suspend: ptr(true), JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template("yearly")}}}}
	c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	c = must(it.BatchV1().CronJobs(ns).Create(ctx, c, metav1.CreateOptions{}))
	c.Status.LastScheduleTime = ptr(metav1.NewTime(time.Now().AddDate(-1, -1, 0)))
	must(it.BatchV1().CronJobs(ns).UpdateStatus(ctx, c, metav1.UpdateOptions{}))
	must(it.BatchV1().CronJobs(ns).Patch(ctx, "yearly", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`),
		metav1.PatchOptions{}))
	var job string
	it.until(t, "the CronJob's Job", func() (bool, any) {
		jobs := must(it.BatchV1().Jobs(ns).List(ctx, metav1.ListOptions{}))
		if len(jobs.Items) == 1 {
			job = jobs.Items[0].Name
		}
		return job != "", jobs.Items
	})
	completed(t, ns, job)
}

func TestStatefulSet(t *testing.T) {
	ns := it.namespace(t)
	s := &appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{Replicas: ptr(int32(2)),
		ServiceName: "db", Selector: selector("db"), Template: template("db"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: named("data"),
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceStorage: resource.MustParse("1Gi")}}}}}}}
	must(it.AppsV1().StatefulSets(ns).Create(ctx, s, metav1.CreateOptions{}))
	ready := func(n int32) {
		t.Helper()
		it.until(t, "the StatefulSet ready", func() (bool, any) {
			s := must(it.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{}))
			return s.Status.ObservedGeneration == s.Generation && s.Status.ReadyReplicas == n &&
				s.Status.Replicas == n, s.Status
		})
	}
	ready(2)
	it.shows(t, "/api/v1/namespaces/"+ns+"/pods", `
NAME  READY  STATUS   RESTARTS
db-0  1/1    Running  0
db-1  1/1    Running  0
`)
	must(it.AppsV1().StatefulSets(ns).Patch(ctx, "db", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`),
		metav1.PatchOptions{}))
	ready(1)
	claims := must(it.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{}))
	if len(claims.Items) != 2 || claims.Items[1].Name != "data-db-1" {
		t.Errorf("claims are %v, want data-db-0 and data-db-1", claims.Items)
	}
}

func TestDaemonSet(t *testing.T) {
	ns := it.namespace(t)
	for _, name := range []string{"one", "two"} {
		must(it.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: named(name)}, metav1.CreateOptions{}))
		must(it.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType,
			[]byte(`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`), metav1.PatchOptions{}, "status"))
	}
	must(it.AppsV1().DaemonSets(ns).Create(ctx, &appsv1.DaemonSet{ObjectMeta: named("agent"),
		Spec: appsv1.DaemonSetSpec{Selector: selector("agent"), Template: template("agent")}}, metav1.CreateOptions{}))
	it.until(t, "a Pod on each node", func() (bool, any) {
		d := must(it.AppsV1().DaemonSets(ns).Get(ctx, "agent", metav1.GetOptions{}))
		return d.Status.NumberAvailable == 2 && d.Status.DesiredNumberScheduled == 2, d.Status
	})
}

// gone waits until what is got is not there any more.
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
			t.Errorf("%s has outlived its namespace", w.GetName())
		}
	}
}

// kinds are defined before the controllers start: the collector looks for new ones every
// half minute. One is there for the test in which it goes.
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

// define makes the custom kinds.
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

// A definition takes its objects with it, and they what they own.
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
