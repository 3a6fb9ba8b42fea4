package quotausage

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Each name of a quota measures its own resource, and no other.
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
			t.Errorf("the quota name %s counts the objects of %s", c.name, of)
		}
	}
}

// A Pod needs the sum of its containers and sidecars, or of an init container and earlier sidecars if this is larger.
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

// pods returns the Pods for testing scopes.
func pods() map[string]*corev1.Pod {
	elsewhere := corev1.PodAffinityTerm{Namespaces: []string{"other"}}
	anywhere := corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}
	here := corev1.PodAffinityTerm{TopologyKey: "zone"}
	some := func(name corev1.ResourceName) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse("1")}}
	}
	whole := some(corev1.ResourceCPU)
	deadline := int64(1)
	of := func(s corev1.PodSpec) *corev1.Pod { return &corev1.Pod{Spec: s} }
	near := func(required, preferred *corev1.PodAffinityTerm) *corev1.PodAffinity {
		a := &corev1.PodAffinity{}
		if required != nil {
			a.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{here, *required}
		}
		if preferred != nil {
			a.PreferredDuringSchedulingIgnoredDuringExecution =
				[]corev1.WeightedPodAffinityTerm{{PodAffinityTerm: here}, {PodAffinityTerm: *preferred}}
		}
		return a
	}
	far := func(required, preferred *corev1.PodAffinityTerm) *corev1.PodAntiAffinity {
		n := near(required, preferred)
		return &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  n.RequiredDuringSchedulingIgnoredDuringExecution,
			PreferredDuringSchedulingIgnoredDuringExecution: n.PreferredDuringSchedulingIgnoredDuringExecution}
	}
	return map[string]*corev1.Pod{
		"plain": of(corev1.PodSpec{}),
		"ends":  of(corev1.PodSpec{ActiveDeadlineSeconds: &deadline}),
		"high":  of(corev1.PodSpec{PriorityClassName: "high"}),
		"low":   of(corev1.PodSpec{PriorityClassName: "low"}),
		"cpu":   of(corev1.PodSpec{Containers: []corev1.Container{{Resources: some(corev1.ResourceCPU)}}}),
		"memory-first": of(corev1.PodSpec{InitContainers: []corev1.Container{
			{Resources: some(corev1.ResourceMemory)}}}),
		"disk":           of(corev1.PodSpec{Containers: []corev1.Container{{Resources: some("ephemeral-storage")}}}),
		"as-a-whole":     of(corev1.PodSpec{Resources: &whole}),
		"nothing-whole":  of(corev1.PodSpec{Resources: &corev1.ResourceRequirements{}}),
		"said":           {Status: corev1.PodStatus{QOSClass: corev1.PodQOSBurstable}},
		"near":           of(corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: near(&elsewhere, nil)}}),
		"rather-near":    of(corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: near(nil, &anywhere)}}),
		"far":            of(corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: far(&anywhere, nil)}}),
		"rather-far":     of(corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: far(nil, &elsewhere)}}),
		"near-at-home":   of(corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: near(&here, &here)}}),
		"no-term-at-all": of(corev1.PodSpec{Affinity: &corev1.Affinity{}}),
	}
}

// Each scope matches exactly the listed Pods.
func TestScopes(t *testing.T) {
	class := func(op corev1.ScopeSelectorOperator) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: op,
			Values: []string{"high"}}
	}
	just := func(s corev1.ResourceQuotaScope) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists}
	}
	wants := map[string]bool{"cpu": true, "memory-first": true, "as-a-whole": true, "said": true}
	for _, c := range []struct {
		scope corev1.ScopedResourceSelectorRequirement
		holds func(name string) bool
	}{
		{just(corev1.ResourceQuotaScopeTerminating), func(n string) bool { return n == "ends" }},
		{just(corev1.ResourceQuotaScopeNotTerminating), func(n string) bool { return n != "ends" }},
		{just(corev1.ResourceQuotaScopeBestEffort), func(n string) bool { return !wants[n] }},
		{just(corev1.ResourceQuotaScopeNotBestEffort), func(n string) bool { return wants[n] }},
		{just(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), func(n string) bool {
			return n == "near" || n == "rather-near" || n == "far" || n == "rather-far"
		}},
		{class(corev1.ScopeSelectorOpExists), func(n string) bool { return n == "high" || n == "low" }},
		{class(corev1.ScopeSelectorOpDoesNotExist), func(n string) bool { return n != "high" && n != "low" }},
		{class(corev1.ScopeSelectorOpIn), func(n string) bool { return n == "high" }},
		{class(corev1.ScopeSelectorOpNotIn), func(n string) bool { return n != "high" }},
		{class("Near"), func(string) bool { return false }},
		{just("Unknown"), func(string) bool { return false }},
	} {
		q := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{ScopeSelector: &corev1.ScopeSelector{
			MatchExpressions: []corev1.ScopedResourceSelectorRequirement{c.scope}}}}
		for name, pod := range pods() {
			if got := Governs(q, pod); got != c.holds(name) {
				t.Errorf("scope %s %s matches pod %s: %v", c.scope.ScopeName, c.scope.Operator, name, got)
			}
		}
		if Governs(q, &corev1.Service{}) {
			t.Errorf("%s holds for a Service", c.scope.ScopeName)
		}
	}
}
