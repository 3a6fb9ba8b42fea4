package usage

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A name measures its own resource, and no other.
func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		name, group, resource string
		want                  bool
	}{
		{"count/pods", "", "pods", true}, {"count/pods", "metrics.k8s.io", "pods", false}, {"pods", "", "pods", true},
		{"count/deployments.apps", "apps", "deployments", true}, {"count/deployments", "apps", "deployments", false},
		{"count/deployments.app", "apps", "deployments", false}, {"count/pods.", "", "pods", false},
		{"count/podsx", "", "pods", false}, {"count/pod", "", "pods", false}, {"secrets", "", "secrets", true},
		{"secrets", "", "configmaps", false}, {"secrets", "example.com", "secrets", false}, {"cpu", "", "pods", true},
		{"requests.example.com/gpu", "", "pods", true}, {"example.com/gpu", "", "pods", false},
		{"requests.deviceclass.resource.kubernetes.io/gpu", "", "pods", true},
		{"gold.storageclass.storage.k8s.io/requests.storage", "", "persistentvolumeclaims", true},
		{"services.nodeports", "", "services", true},
	} {
		of := schema.GroupResource{Group: c.group, Resource: c.resource}
		if got := Measures(of, corev1.ResourceName(c.name)); got != c.want {
			t.Errorf("%s measures %s: %t", c.name, of, got)
		}
		if counted := CountOf(of) == corev1.ResourceName(c.name); counted && !c.want {
			t.Errorf("%s is how %s are counted", c.name, of)
		}
	}
}

// A Pod needs what its containers and sidecars need together, or one of its init
// containers beside the sidecars before it, whichever is more.
func TestTotalOf(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	asking := func(cpu string, sidecar bool) corev1.Container {
		c := corev1.Container{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}
		if sidecar {
			c.RestartPolicy = &always
		}
		return c
	}
	for _, c := range []struct {
		first, then []corev1.Container
		want        string
	}{
		{nil, []corev1.Container{asking("1", false), asking("2", false)}, "3"},
		{[]corev1.Container{asking("5", false)}, []corev1.Container{asking("1", false)}, "5"},
		{[]corev1.Container{asking("2", true)}, []corev1.Container{asking("1", false)}, "3"},
		{[]corev1.Container{asking("2", true), asking("4", false)}, []corev1.Container{asking("1", false)}, "6"},
		{[]corev1.Container{asking("4", false), asking("2", true)}, []corev1.Container{asking("1", false)}, "4"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: c.first, Containers: c.then}}
		if requests, _ := TotalOf(pod); requests.Cpu().String() != c.want {
			t.Errorf("%v then %v: %s, want %s", c.first, c.then, requests.Cpu(), c.want)
		}
		used := Of(schema.GroupResource{Resource: "pods"}, pod, time.Time{})
		if n := used.Get("requests.cpu"); n.String() != c.want {
			t.Errorf("%v then %v use %s, want %s", c.first, c.then, n.String(), c.want)
		}
	}
}
