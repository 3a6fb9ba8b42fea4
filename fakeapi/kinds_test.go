package fakeapi

import (
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func made[T runtime.Object](t testing.TB, s *Server, k *Kind, text string) T {
	t.Helper()
	obj := k.New()
	if err := yaml.UnmarshalStrict([]byte(text), obj); err != nil {
		t.Fatal(err)
	}
	return must(t, s, &Request{Verb: Create, Kind: k, Namespace: "default", Object: obj}).Object.(T)
}

func got[T runtime.Object](t testing.TB, s *Server, k *Kind, name string) T {
	t.Helper()
	return must(t, s, &Request{Verb: Get, Kind: k, Namespace: "default", Name: name}).Object.(T)
}

const hpa = `{metadata: {name: a}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}`

func TestAutoscalerVersions(t *testing.T) {
	s := New(Options{ManagedFields: true})
	first := made[*autoscalingv1.HorizontalPodAutoscaler](t, s, autoscalerV1Kind,
		hpa+`, targetCPUUtilizationPercentage: 50}}`)
	if *first.Spec.MinReplicas != 1 || *first.Spec.TargetCPUUtilizationPercentage != 50 ||
		first.APIVersion != "autoscaling/v1" {
		t.Fatalf("%+v", first)
	}
	v2 := got[*autoscalingv2.HorizontalPodAutoscaler](t, s, autoscalerKind, "a")
	if len(v2.Spec.Metrics) != 1 || *v2.Spec.Metrics[0].Resource.Target.AverageUtilization != 50 ||
		v2.ResourceVersion != first.ResourceVersion {
		t.Fatalf("%+v", v2)
	}
	v2 = v2.DeepCopy()
	v2.Spec.Metrics = append(v2.Spec.Metrics,
		autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "rps"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType,
				AverageValue: mustQuantity(t, "10")}}})
	v2.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	must(t, s, &Request{Verb: Update, Kind: autoscalerKind, Namespace: "default", Name: "a", Object: v2})
	v1 := got[*autoscalingv1.HorizontalPodAutoscaler](t, s, autoscalerV1Kind, "a")
	want := `[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"10"}}]`
	if v1.Annotations["autoscaling.alpha.kubernetes.io/metrics"] != want {
		t.Fatalf("%s, want %s", v1.Annotations["autoscaling.alpha.kubernetes.io/metrics"], want)
	}
	if !strings.HasPrefix(v1.Annotations["autoscaling.alpha.kubernetes.io/behavior"],
		`{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}`) {
		t.Fatal(v1.Annotations["autoscaling.alpha.kubernetes.io/behavior"])
	}
	must(t, s, &Request{Verb: Patch, Kind: autoscalerV1Kind, Namespace: "default", Name: "a",
		PatchType: types.StrategicMergePatchType, Patch: []byte(`{"spec":{"targetCPUUtilizationPercentage":70}}`)})
	v2 = got[*autoscalingv2.HorizontalPodAutoscaler](t, s, autoscalerKind, "a")
	if len(v2.Spec.Metrics) != 2 || v2.Spec.Metrics[0].Pods == nil ||
		*v2.Spec.Metrics[1].Resource.Target.AverageUtilization != 70 || v2.Spec.Behavior == nil ||
		len(v2.Annotations) > 0 {
		t.Fatalf("%+v", v2)
	}
	must(t, s, &Request{Verb: Patch, Kind: autoscalerV1Kind, Namespace: "default", Name: "a",
		PatchType: types.ApplyPatchType, PatchO: metav1.PatchOptions{FieldManager: "me", Force: new(true)},
		Patch: []byte(
			`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":9}}`)})
	if v2 = got[*autoscalingv2.HorizontalPodAutoscaler](t, s, autoscalerKind, "a"); v2.Spec.MaxReplicas != 9 {
		t.Fatalf("%+v", v2)
	}
	refused(t, s, &Request{Verb: Patch, Kind: autoscalerV1Kind, Namespace: "default", Name: "a",
		PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"maxReplicas":0}}`)},
		422, "spec.maxReplicas: Required value: must be set and greater than 0")
}

func TestEventsAreOneKind(t *testing.T) {
	s := New(Options{})
	made[*eventsv1.Event](t, s, newEventKind,
		`{metadata: {name: e}, regarding: {kind: Pod, name: p}, note: hello, reason: R, action: A, type: Normal,
		  eventTime: "2026-01-01T00:00:00.000000Z", reportingController: example.com/c, reportingInstance: i}`)
	if e := got[*corev1.Event](t, s, eventKind, "e"); e.Message != "hello" || e.InvolvedObject.Name != "p" {
		t.Fatalf("%+v", e)
	}
	w, err := s.Watch(newEventKind, "default", "", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if list := w.Next(); len(list) == 0 || list[0].Object.(*eventsv1.Event).Note != "hello" {
		t.Fatalf("%+v", list)
	}
	refused(t, s, &Request{Verb: Get, Kind: newEventKind, Namespace: "default", Name: "x"}, 404,
		`events.events.k8s.io "x" not found`)
	refused(t, s, &Request{Verb: Get, Kind: eventKind, Namespace: "default", Name: "x"}, 404, `events "x" not found`)
}

const guarded = `{metadata: {name: p, labels: {app: a}}, spec: {nodeName: n, containers: [{name: c, image: i}]}}`

// guardedServer has a running, ready Pod and a budget that selects it.
func guardedServer(t *testing.T) *Server {
	s := New(Options{})
	p := made[*corev1.Pod](t, s, podKind, guarded).DeepCopy()
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	must(t, s, &Request{Verb: Update, Kind: podKind, Subresource: "status", Namespace: "default", Name: "p", Object: p})
	made[*policyv1.PodDisruptionBudget](t, s, budgetKind,
		`{metadata: {name: b}, spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}}`)
	return s
}

func allowEvictions(t *testing.T, s *Server, n int32) {
	b := got[*policyv1.PodDisruptionBudget](t, s, budgetKind, "b").DeepCopy()
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation, DisruptionsAllowed: n,
		CurrentHealthy: 1 + n, DesiredHealthy: 1, ExpectedPods: 1 + n}
	must(t, s, &Request{Verb: Update, Kind: budgetKind, Subresource: "status", Namespace: "default", Name: "b",
		Object: b})
}

func TestEvictionAsksTheBudget(t *testing.T) {
	s := guardedServer(t)
	evict := func() *Request {
		return &Request{Verb: Create, Kind: podKind, Subresource: "eviction", Namespace: "default", Name: "p",
			Object: &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}}
	}
	refused(t, s, evict(), 429, "Cannot evict pod as it would violate the pod's disruption budget.")
	allowEvictions(t, s, 0)
	r, _ := s.Do(epoch, evict())
	if r.Err == nil || r.Err.ErrStatus.Details.Causes[0].Message != "The disruption budget b needs 1 healthy pods "+
		"and has 1 currently" {
		t.Fatal(r.Err)
	}
	allowEvictions(t, s, 1)
	must(t, s, evict())
	b := got[*policyv1.PodDisruptionBudget](t, s, budgetKind, "b")
	if _, noted := b.Status.DisruptedPods["p"]; !noted || b.Status.DisruptionsAllowed != 0 {
		t.Fatalf("%+v", b.Status)
	}
	p := got[*corev1.Pod](t, s, podKind, "p")
	if last := p.Status.Conditions[len(p.Status.Conditions)-1]; p.DeletionTimestamp == nil ||
		last.Type != corev1.DisruptionTarget {
		t.Fatalf("%+v", p)
	}
}

func TestEphemeralContainersOnlyGrow(t *testing.T) {
	s := guardedServer(t)
	patch := func(text string) *Request {
		return &Request{Verb: Patch, Kind: podKind, Subresource: "ephemeralcontainers", Namespace: "default", Name: "p",
			PatchType: types.StrategicMergePatchType, Patch: []byte(text)}
	}
	p := must(t, s,
		patch(`{"metadata":{"labels":{"x":"y"}},"spec":{"ephemeralContainers":[{"name":"debug","image":"busybox","targetContainerName":"c"}]}}`)).Object.(*corev1.Pod)
	if len(p.Spec.EphemeralContainers) != 1 || p.Labels["x"] != "" || p.Generation != 2 ||
		p.Spec.EphemeralContainers[0].TerminationMessagePath == "" {
		t.Fatalf("%+v", p)
	}
	refused(t, s, patch(`{"spec":{"ephemeralContainers":[{"name":"debug","image":"other"}]}}`), 422,
		`existing ephemeral containers "debug" may not be changed`)
	refused(t, s, patch(`{"spec":{"ephemeralContainers":null}}`), 422,
		`existing ephemeral containers "debug" may not be removed`)
	refused(t, s, patch(`{"spec":{"ephemeralContainers":[{"name":"c","image":"i"}]}}`), 422, `Duplicate value: "c"`)
}

func TestLimitsAreKept(t *testing.T) {
	s := New(Options{})
	l := made[*corev1.LimitRange](t, s, limitRangeKind,
		`{metadata: {name: l}, spec: {limits: [{type: Container, max: {cpu: "2"}}]}}`)
	if item := l.Spec.Limits[0]; item.Default.Cpu().String() != "2" || item.DefaultRequest.Cpu().String() != "2" {
		t.Fatalf("%+v", item)
	}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"cpu": *mustQuantity(t, "3"),
			"limits.cpu": *mustQuantity(t, "2")}}}
	r := must(t, s, &Request{Verb: Create, Kind: quotaKind, Namespace: "default", Object: q})
	if len(r.Warnings) != 1 || r.Warnings[0] != "ResourceQuota cpu (3) should be less than limits.cpu (2)" {
		t.Fatal(r.Warnings)
	}
	e := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "e"},
		Subsets: []corev1.EndpointSubset{{Ports: []corev1.EndpointPort{{Port: 1}}}}}
	refused(t, s, &Request{Verb: Create, Kind: endpointsKind, Namespace: "default", Object: e}, 422,
		"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`")
}

func mustQuantity(t testing.TB, text string) *resource.Quantity {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return &q
}

// A precondition is the uid or the revision of the object itself, not of another field of that name.
func TestPreconditions(t *testing.T) {
	uid, version := types.UID("u"), "7"
	for _, c := range []struct {
		form    types.PatchType
		patch   string
		uid     types.UID
		version string
	}{
		{types.MergePatchType, `{"metadata":{"uid":"u","resourceVersion":"7"}}`, uid, version},
		{types.MergePatchType, `{"metadata":{"labels":{"uid":"x","resourceVersion":"y"}}}`, "", ""},
		{types.MergePatchType, `{"metadata":{"uid":null},"data":{"resourceVersion":"7"}}`, "", ""},
		{types.MergePatchType, `{"spec":{"replicas":1},"metadata":{"uid":"u"}}`, uid, ""},
		{types.MergePatchType, `{"metadata":{"UID":"u"},"spec":{}}`, "", ""},
		{types.StrategicMergePatchType, `{"metadata":{"ownerReferences":[{"uid":"o"}],"uid":"u"}}`, uid, ""},
		{types.StrategicMergePatchType, `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"o"}]}}`, "", ""},
		{types.StrategicMergePatchType, `{"metadata":`, "", ""},
		{types.JSONPatchType, `[{"op":"test","path":"/metadata/uid","value":"u"},
			{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`, uid, version},
		{types.JSONPatchType, `[{"op":"add","path":"/metadata/labels/uid","value":"u"},
			{"op":"remove","path":"/metadata/uid"}]`, "", ""},
		{types.MergePatchType, `{"metadata":{"uid":"u"},"metadata":{"labels":{"a":"b"}}}`, "", ""},
		{types.MergePatchType, `{"metadata":{"uid":"u","\u0075id":null}}`, "", ""},
		{types.MergePatchType, `{"metadata":{"labels":{"a":1},"\u0075id":"u"}}`, uid, ""},
		{types.JSONPatchType, `[{"op":"replace","path":"/metadata","value":{"uid":"u","resourceVersion":"7"}}]`, uid,
			version},
		{types.ApplyPatchType, "metadata:\n  name: a\n  uid: u\n", uid, ""},
		{types.ApplyPatchType, "metadata:\n  labels:\n    resourceVersion: \"7\"\n", "", ""},
	} {
		u, v := (&Request{Verb: Patch, PatchType: c.form, Patch: []byte(c.patch)}).Preconditions()
		if u != c.uid || v != c.version {
			t.Errorf("%s: %q and %q", c.patch, u, v)
		}
	}
	only := metav1.Preconditions{UID: &uid}
	deletion := &Request{Verb: Delete, Delete: metav1.DeleteOptions{Preconditions: &only}}
	if u, v := deletion.Preconditions(); u != uid || v != "" {
		t.Errorf("a deletion: %q and %q", u, v)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}}
	if u, v := (&Request{Verb: Update, Object: pod}).Preconditions(); u != uid || v != version {
		t.Errorf("an update: %q and %q", u, v)
	}
}
