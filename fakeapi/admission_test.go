package fakeapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// LimitRanges set defaults before quotas are charged, and refuse an object above the maximum.
func TestLimitRangeBeforeQuota(t *testing.T) {
	s := New(Options{})
	mustDo(t, s, &Request{Verb: Create, Kind: limitRangeKind, Namespace: "default", Object: &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": resource.MustParse("1")},
			Default: corev1.ResourceList{"cpu": resource.MustParse("500m")}}}}}})
	limited(t, s, "q", map[corev1.ResourceName]string{"limits.cpu": "600m"})
	r, _ := create(s, pod("a"))
	if r.Err != nil || used(s, "q", "limits.cpu") != "500m" ||
		!strings.Contains(r.Object.(*corev1.Pod).Annotations["kubernetes.io/limit-ranger"], "cpu limit for container") {
		t.Errorf("%v, used %s: %+v", r.Err, used(s, "q", "limits.cpu"), r.Object)
	}
	big := pod("b")
	big.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("2")}
	r, _ = create(s, big)
	if r.Code != 403 || !strings.Contains(r.Err.Error(), "maximum cpu usage per Container is 1") {
		t.Errorf("over the maximum: %v", r.Err)
	}
}

// A resize of a whole Pod needs a Node that declares this feature. The Node must exist.
func TestResizeNeedsDeclaredFeature(t *testing.T) {
	s := New(Options{})
	one := corev1.ResourceList{"cpu": resource.MustParse("1")}
	p := pod("p")
	p.Spec.NodeName, p.Spec.Resources = "n", &corev1.ResourceRequirements{Requests: one, Limits: one}
	created, _ := create(s, p)
	resize := func(cpu string) string {
		p := created.Object.(*corev1.Pod).DeepCopy()
		p.Spec.Resources.Limits["cpu"], p.ResourceVersion = resource.MustParse(cpu), ""
		r, _ := s.Do(noon, &Request{Verb: Update, Kind: podKind, Namespace: "default", Name: "p", Subresource: "resize",
			Object: p})
		if r.Err == nil {
			return ""
		}
		return r.Err.Error()
	}
	const feature = "InPlacePodLevelResourcesVerticalScaling"
	if got := resize("2"); got != `pods "p" is forbidden: node "n" not found` {
		t.Errorf("without a node: %q", got)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("1Gi")}}}
	mustDo(t, s, &Request{Verb: Create, Kind: nodeKind, Object: node})
	if got := resize("2"); got != `pods "p" is forbidden: pod update requires features `+feature+
		` which are not available on node "n"` {
		t.Errorf("without the feature: %q", got)
	}
	node.Status.DeclaredFeatures = []string{feature}
	mustDo(t, s, &Request{Verb: Update, Kind: nodeKind, Name: "n", Subresource: "status", Object: node})
	if got := resize("2"); got != "" {
		t.Errorf("with the feature: %q", got)
	}
}

// The labels of a namespace decide whether a Pod is refused, and whether a template is warned about. A namespace that
// becomes stricter names the Pods that would be refused.
func TestPodSecurity(t *testing.T) {
	const with = ", spec: {containers: [{name: c, image: x, securityContext: {privileged: true}}]}}"
	const privileged = `privileged (container "c" must not set securityContext.privileged=true)`
	s := New(Options{})
	create := func(s *Server, kind *Kind, in, text string) *Request {
		obj := kind.New()
		parse(t, text, obj)
		return &Request{Verb: Create, Kind: kind, Namespace: in, Object: obj}
	}
	namespace := func(name, level string) string {
		return "{apiVersion: v1, kind: Namespace, metadata: {name: " + name + ", labels: {pod-security.kubernetes.io/" +
			level + "}}}"
	}
	pod := func(name string) string { return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}" + with }
	refused(t, s, create(s, namespaceKind, "", namespace("x", "enforce: foo")), 422, `Invalid value: "foo"`)
	must(t, s, create(s, namespaceKind, "", namespace("strict", "enforce: baseline")))
	must(t, s, create(s, namespaceKind, "", namespace("warned", "warn: baseline")))
	refused(t, s, create(s, podKind, "strict", pod("a")), 403,
		`pods "a" is forbidden: violates PodSecurity "baseline:latest": `+privileged)
	template := "{apiVersion: v1, kind: PodTemplate, metadata: {name: t}, template: {metadata: {}" + with + "}"
	for _, r := range []*Request{create(s, podKind, "warned", pod("a")), create(s, s.Kind(corev1.SchemeGroupVersion.WithKind("PodTemplate")), "warned", template)} {
		if got := must(t, s, r).Warnings; !slices.Equal(got, []string{`would violate PodSecurity "baseline:latest": ` + privileged}) {
			t.Errorf("%q", got)
		}
	}
	must(t, s, create(s, podKind, "warned", pod("b")))
	got := must(t, s, &Request{Verb: Patch, Kind: namespaceKind, Name: "warned", PatchType: types.MergePatchType,
		Patch: []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)}).Warnings
	want := []string{`existing pods in namespace "warned" violate the new PodSecurity enforce level "baseline:latest"`,
		"a (and 1 other pod): privileged"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	change := func(patch string) *Request {
		return &Request{Verb: Patch, Kind: podKind, Namespace: "warned", Name: "a", PatchType: types.StrategicMergePatchType,
			Patch: []byte(patch)}
	}
	must(t, s, change(`{"metadata":{"labels":{"x":"y"}}}`)) // only a new image is evaluated
	refused(t, s, change(`{"spec":{"containers":[{"name":"c","image":"y"}]}}`), 403, "violates PodSecurity")
	must(t, New(Options{WithoutPlugins: []string{podSecurity}}), create(s, namespaceKind, "", namespace("x", "enforce: foo")))
}

// If Authorize is set, it decides about owner references. The refusals have the real server's texts.
func TestOwnersNeedLeave(t *testing.T) {
	var asked []Access
	allowed := func(a Access) bool { return a.User == "root" || a.Verb == "delete" }
	s := New(Options{Authorize: func(a Access) (bool, string) {
		asked = append(asked, a)
		return allowed(a), ""
	}})
	owned := func(kind string, blocks bool) *corev1.Pod {
		p := pod("p")
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "o", UID: "u",
			BlockOwnerDeletion: &blocks}}
		return p
	}
	do := func(user string, p *corev1.Pod) string {
		asked = nil
		r, _ := s.Do(noon, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p, User: user,
			Create: metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}})
		if r.Err == nil {
			return ""
		}
		return r.Err.Error()
	}
	for _, c := range []struct {
		user  string
		pod   *corev1.Pod
		want  string
		times int
	}{
		{"root", owned("ReplicaSet", true), "", 1}, {"joe", pod("p"), "", 0},
		{"joe", owned("ReplicaSet", false), "", 0},
		{"joe", owned("ReplicaSet", true), `pods "p" is forbidden: cannot set blockOwnerDeletion if an ` +
			`ownerReference refers to a resource you can't set finalizers on: , <nil>`, 2},
		{"joe", owned("Teapot", true), `pods "p" is forbidden: cannot set blockOwnerDeletion in this case because ` +
			`cannot find RESTMapping for APIVersion apps/v1 Kind Teapot: no matches for kind "Teapot" in version ` +
			`"apps/v1"`, 1},
	} {
		if got := do(c.user, c.pod); got != c.want || len(asked) != c.times {
			t.Errorf("%s: %q after %+v, want %q", c.user, got, asked, c.want)
		}
	}
	if last := asked[len(asked)-1]; last.Resource != "*" || last.Subresource != "finalizers" {
		t.Errorf("the last access to authorize was %+v", last)
	}
	create(s, pod("p"))
	allowed = func(Access) bool { return false }
	r, _ := s.Do(noon, &Request{Verb: Patch, Kind: podKind, Namespace: "default", Name: "p",
		PatchType: types.MergePatchType, Patch: []byte(
			`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"o","uid":"u"}]}}`)})
	const want = `pods "p" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`
	if r.Err == nil || r.Err.Error() != want {
		t.Errorf("an adoption: %v, want %s", r.Err, want)
	}
}

func namesOf(s *Server) string {
	var all []string
	for _, k := range s.Kinds() {
		s.Each(k, func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			all = append(all, fmt.Sprintf("%s %s/%s", k.GVK.Kind, m.GetNamespace(), m.GetName()))
			return true
		})
	}
	return strings.Join(all, "\n")
}

func TestStart(t *testing.T) {
	at := time.Date(2030, 2, 3, 4, 5, 6, 0, time.UTC)
	const always = "Namespace /default\nNamespace /kube-system"
	for want, start := range map[string]Start{
		always: {At: at},
		"Namespace /default\nNamespace /kube-node-lease\nNamespace /kube-public\nNamespace /kube-system": {
			Namespaces: true},
		always + "\nService default/kubernetes\nEndpointSlice default/kubernetes\nEndpoints default/kubernetes": {
			Service: true},
		always + "\nPriorityClass /system-cluster-critical\nPriorityClass /system-node-critical": {
			PriorityClasses: true},
		always + "\nServiceAccount default/default\nServiceAccount kube-system/default": {
			ServiceAccounts: true},
	} {
		s := New(Options{Start: start})
		if got := namesOf(s); got != want {
			t.Errorf("%+v holds\n%s\nwant\n%s", start, got, want)
		}
		made := s.Lookup(namespaceKind, "", "default").(*corev1.Namespace).CreationTimestamp.Time
		if start.At.IsZero() != (made != at) {
			t.Errorf("%+v was made at %s", start, made)
		}
	}
	all := New(Options{ManagedFields: true, Start: Start{Namespaces: true, Service: true, PriorityClasses: true,
		ServiceAccounts: true}})
	if n := strings.Count(namesOf(all), "\n") + 1; n != 13 {
		t.Errorf("a server with all of Start has %d objects:\n%s", n, namesOf(all))
	}
}

// A namespace gets a default service account, again after it was deleted, but not while the namespace is terminating.
func TestServiceAccountOfNamespace(t *testing.T) {
	s := New(Options{Start: Start{ServiceAccounts: true}})
	account := func() runtime.Object { return s.Lookup(accountKind, "n", "default") }
	_, events := s.Do(noon, &Request{Verb: Create, Kind: namespaceKind,
		Object: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}})
	if account() == nil || len(events) != 2 || events[1].Kind != accountKind {
		t.Fatalf("%v after %+v", account(), events)
	}
	first := account().(*corev1.ServiceAccount).UID
	remove := &Request{Verb: Delete, Kind: accountKind, Namespace: "n", Name: "default"}
	mustDo(t, s, remove)
	if account() == nil || account().(*corev1.ServiceAccount).UID == first {
		t.Errorf("after its deletion, the account is %v", account())
	}
	mustDo(t, s, &Request{Verb: Delete, Kind: namespaceKind, Name: "n"})
	mustDo(t, s, remove)
	if account() != nil {
		t.Error("a terminating namespace got an account")
	}
}
