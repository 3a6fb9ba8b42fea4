package fakeapi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// limited creates a quota with a status in the namespace default, as the quota controller would write it.
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

func create(s *Server, p *corev1.Pod) (Response, []Event) {
	return s.Do(noon, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p})
}

// A create is charged to quotas before the server finds that the name is taken.
func TestQuotaKeepsTheChargeOfAConflict(t *testing.T) {
	s := New(Options{})
	limited(t, s, "q", map[corev1.ResourceName]string{"pods": "9"})
	create(s, pod("a"))
	r, events := create(s, pod("a"))
	if r.Code != 409 || len(events) != 1 || events[0].Kind != quotaKind || used(s, "q", "pods") != "2" {
		t.Errorf("%v, %+v, used %s", r.Err, events, used(s, "q", "pods"))
	}
}
