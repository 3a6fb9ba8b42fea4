package fakeapi

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// limited gives namespace default a quota with a status, as its controller writes it.
func limited(t testing.TB, s *Server, name string, hard map[corev1.ResourceName]string) {
	t.Helper()
	limits, used := corev1.ResourceList{}, corev1.ResourceList{}
	for name, n := range hard {
		limits[name], used[name] = resource.MustParse(n), resource.MustParse("0")
	}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: limits}}
	mustDo(t, s, &Request{Verb: Create, Kind: quotaKind, Namespace: "default", Object: q})
	q.Status = corev1.ResourceQuotaStatus{Hard: limits, Used: used}
	mustDo(t, s, &Request{Verb: Update, Kind: quotaKind, Subresource: "status", Namespace: "default", Name: name,
		Object: q})
}

func used(s *Server, quota string, name corev1.ResourceName) string {
	n := s.Lookup(quotaKind, "default", quota).(*corev1.ResourceQuota).Status.Used[name]
	return n.String()
}

func create(s *Server, p *corev1.Pod, dryRun ...string) (Response, []Event) {
	return s.Do(noon, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p,
		Create: metav1.CreateOptions{DryRun: dryRun}})
}

// A create that fits is charged in an event before its own. A refused create charges nothing, and neither does a dry
// run.
func TestQuotaCharges(t *testing.T) {
	s := New(Options{})
	limited(t, s, "q", map[corev1.ResourceName]string{"pods": "1"})
	r, events := create(s, pod("dry"), metav1.DryRunAll)
	if r.Err != nil || len(events) != 0 || used(s, "q", "pods") != "0" {
		t.Errorf("a dry run: %v, %d events, used %s", r.Err, len(events), used(s, "q", "pods"))
	}
	if r, events := create(s, pod("a")); r.Err != nil || len(events) != 2 || events[0].Kind != quotaKind ||
		events[1].Kind != podKind || used(s, "q", "pods") != "1" {
		t.Errorf("the first: %v, %+v", r.Err, events)
	}
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		r, events := create(s, pod("b"), dryRun...)
		const want = `pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`
		if r.Err == nil || r.Err.Error() != want || r.Code != 403 || len(events) != 0 {
			t.Errorf("one too many: %v, %d events; want %s", r.Err, len(events), want)
		}
	}
}

// A create of a name that is taken has been charged when that is found out.
func TestQuotaKeepsTheChargeOfAConflict(t *testing.T) {
	s := New(Options{})
	limited(t, s, "q", map[corev1.ResourceName]string{"pods": "9"})
	create(s, pod("a"))
	r, events := create(s, pod("a"))
	if r.Code != 409 || len(events) != 1 || events[0].Kind != quotaKind || used(s, "q", "pods") != "2" {
		t.Errorf("%v, %+v, used %s", r.Err, events, used(s, "q", "pods"))
	}
}

// If one of two quotas refuses, none is charged. A changed quota counts as its status says.
func TestQuotaChangesWhileItIsUsed(t *testing.T) {
	s := New(Options{})
	limited(t, s, "a", map[corev1.ResourceName]string{"pods": "9"})
	limited(t, s, "b", map[corev1.ResourceName]string{"count/pods": "1"})
	create(s, pod("one"))
	r, _ := create(s, pod("two"))
	if r.Code != 403 || used(s, "a", "pods") != "1" || used(s, "b", "count/pods") != "1" {
		t.Errorf("%v, used %s and %s", r.Err, used(s, "a", "pods"), used(s, "b", "count/pods"))
	}
	patch := func(subresource, body string) {
		mustDo(t, s, &Request{Verb: Patch, Kind: quotaKind, Subresource: subresource, Namespace: "default", Name: "b",
			PatchType: types.MergePatchType, Patch: []byte(body)})
	}
	patch("", `{"spec":{"hard":{"count/pods":"2"}}}`)
	if r, _ := create(s, pod("two")); r.Code != 403 {
		t.Errorf("before the status is written: %v", r.Err)
	}
	patch("status", `{"status":{"hard":{"count/pods":"2"}}}`)
	if r, _ := create(s, pod("two")); r.Err != nil {
		t.Errorf("after the status is written: %v", r.Err)
	}
	patch("status", `{"status":{"used":null}}`)
	r, _ = create(s, pod("three"))
	if r.Err == nil || !strings.Contains(r.Err.Error(), "status unknown for quota: b, resources: count/pods") {
		t.Errorf("nobody knows what is used: %v", r.Err)
	}
}
