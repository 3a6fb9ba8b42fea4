package fakeapi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func parse(t testing.TB, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func made[T runtime.Object](t testing.TB, s *Server, k *Kind, text string) T {
	t.Helper()
	obj := k.New()
	parse(t, text, obj)
	return must(t, s, &Request{Verb: Create, Kind: k, Namespace: "default", Object: obj}).Object.(T)
}

func got[T runtime.Object](t testing.TB, s *Server, k *Kind, name string) T {
	t.Helper()
	return must(t, s, &Request{Verb: Get, Kind: k, Namespace: "default", Name: name}).Object.(T)
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

// guardedServer returns a server with a running, ready Pod and a budget that selects it.
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

// A precondition is the uid or resourceVersion in the object's own metadata, not another field of that name.
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
