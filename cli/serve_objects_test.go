package cli

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const gizmoDefinition = `{"metadata":{"name":"gizmos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo","listKind":"GizmoList"},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true}}},
{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true}}}]}}`

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	gizmosPath      = "/apis/example.com/v1/namespaces/shop/gizmos"
	betaGizmosPath  = "/apis/example.com/v1beta1/namespaces/shop/gizmos"
	mapsPath        = "/api/v1/namespaces/shop/configmaps"
)

func gizmo(version, name string) string {
	return `{"apiVersion":"example.com/` + version + `","kind":"Gizmo","metadata":{"name":"` + name + `"}}`
}

// owned creates a Gizmo, and a ConfigMap whose owner reference names the Gizmo in this API version.
func (s *served) owned(t *testing.T, name, version string) {
	t.Helper()
	uid := s.send(t, "POST", gizmosPath, gizmo("v1", name))
	s.send(t, "POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"example.com/%s",
		"kind":"Gizmo","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`, name, version, name, uid))
}

// Controllers handle the kind of a CRD that is created while they run, in each of its versions. Deleting the CRD
// deletes its objects, and then the objects that they own.
func TestServeDefinitions(t *testing.T) {
	s := startServe(t, "--controllers", "garbagecollector,namespace", "--realtime=false")
	s.send(t, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	s.send(t, "POST", definitionsPath, gizmoDefinition)
	for _, version := range []string{"v1", "v1beta1"} {
		for _, policy := range []string{"Background", "Foreground", "Orphan"} {
			name := strings.ToLower(policy) + "-" + version
			s.owned(t, name, version)
			s.send(t, "DELETE", gizmosPath+"/"+name, `{"propagationPolicy":"`+policy+`"}`)
			s.gone(t, gizmosPath+"/"+name)
			if policy == "Orphan" {
				s.send(t, "DELETE", mapsPath+"/"+name, "{}") // the ConfigMap exists
			}
			s.gone(t, mapsPath+"/"+name)
		}
	}
	s.send(t, "POST", betaGizmosPath, gizmo("v1beta1", "held"))
	s.send(t, "DELETE", "/api/v1/namespaces/shop", "{}")
	s.gone(t, "/api/v1/namespaces/shop")
	s.gone(t, betaGizmosPath+"/held")

	s.send(t, "DELETE", definitionsPath+"/gizmos.example.com", "{}")
	s.gone(t, definitionsPath+"/gizmos.example.com")
	// The garbage collector may have failed up to five times to resolve a reference to the deleted kind.
	unresolved := regexp.MustCompile(`garbagecollector fails, .*: no matches for kind "Gizmo" .*\n`)
	if code, stderr := s.stop(); code != 0 || unresolved.ReplaceAllString(stderr, "") != "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// With a kubelet, each pod gets an address and runs on a node that looks real. It is assigned to a node once.
func TestServePodsAreLifelike(t *testing.T) {
	for _, controllers := range []string{"kubelet", "kubelet,scheduler"} {
		s := startServe(t, "--controllers", controllers)
		s.send(t, "POST", podsPath, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`)
		s.until(t, podsPath, func(_ string, p *corev1.Pod) bool {
			if p.Status.Phase != corev1.PodRunning {
				return false
			}
			if _, err := netip.ParseAddr(p.Status.PodIP); err != nil || p.Spec.NodeName != "node-1" ||
				time.Since(p.Status.StartTime.Time) > time.Hour {
				t.Errorf("node %q, %+v", p.Spec.NodeName, p.Status)
			}
			return true
		})
		if events := s.get(t, "/api/v1/namespaces/default/events").body; strings.Count(events, "Successfully assigned default/a to node-1") != 1 {
			t.Errorf("with %s the pod is not assigned exactly once: %s", controllers, events)
		}
		if code, stderr := s.stop(); code != 0 || stderr != "" {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}
}

// A server calls webhooks, also for writes of the controllers that it runs.
func TestServeCallsWebhooks(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset")
	s.send(t, "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", `{"metadata":{"name":"m"},
		"webhooks":[{"name":"m.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"url":"https://127.0.0.1:1"},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
		"resources":["pods"]}]}]}`)
	if got := s.post(t, podsPath, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`); got.code != 500 ||
		!strings.Contains(got.body, `failed calling webhook \"m.example.com\"`) {
		t.Errorf("a pod is answered %+v", got)
	}
	s.send(t, "POST", setsPath, `{"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
		"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	s.err.until(t, "replicaset fails at rs/r, 5 times so far")
	if _, stderr := s.stop(); !strings.Contains(stderr, `failed calling webhook "m.example.com"`) ||
		!strings.Contains(stderr, "connection refused") {
		t.Errorf("the log is %s", stderr)
	}
}
