package fakeapi

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
	}
}

func mustDo(t testing.TB, s *Server, req *Request) Response {
	t.Helper()
	r, _ := s.Do(noon, req)
	if r.Err != nil {
		t.Fatalf("%s %s %s: %v", req.Verb, req.Kind.GVK.Kind, req.Name, r.Err)
	}
	return r
}

// Built-in kinds that tests need.
var (
	endpointsKind             = kindOf(&corev1.Endpoints{})
	eventKind                 = kindOf(&corev1.Event{})
	newEventKind              = kindOf(&eventsv1.Event{})
	autoscalerKind            = kindOf(&autoscalingv2.HorizontalPodAutoscaler{})
	autoscalerV1Kind          = kindOf(&autoscalingv1.HorizontalPodAutoscaler{})
	configMapKind             = kindOf(&corev1.ConfigMap{})
	replicaSetKind            = kindOf(&appsv1.ReplicaSet{})
	replicationControllerKind = kindOf(&corev1.ReplicationController{})
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
