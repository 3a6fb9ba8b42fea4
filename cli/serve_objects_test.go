package cli

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
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

// owned creates a Gizmo, and a ConfigMap that it owns by a version.
func (s *served) owned(t *testing.T, name, version string) {
	t.Helper()
	uid := s.send(t, "POST", gizmosPath, gizmo("v1", name))
	s.send(t, "POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"example.com/%s",
		"kind":"Gizmo","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`, name, version, name, uid))
}

// Controllers follow a CRD that is created while they run, by any of its versions. If the CRD is deleted, its objects
// go first, and what they own goes afterwards.
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
				s.send(t, "DELETE", mapsPath+"/"+name, "{}") // it is there
			}
			s.gone(t, mapsPath+"/"+name)
		}
	}
	s.owned(t, "stored", "v1")
	s.send(t, "PATCH", definitionsPath+"/gizmos.example.com", `[
		{"op":"replace","path":"/spec/versions/0/storage","value":false},
		{"op":"replace","path":"/spec/versions/1/storage","value":true}]`)
	s.owned(t, "moved", "v1")
	s.send(t, "DELETE", gizmosPath+"/stored", `{"propagationPolicy":"Foreground"}`)
	s.gone(t, gizmosPath+"/stored")
	s.gone(t, mapsPath+"/stored")
	s.send(t, "PATCH", definitionsPath+"/gizmos.example.com", `[{"op":"replace","path":"/spec/versions/0/served",
		"value":false}]`)
	s.send(t, "DELETE", betaGizmosPath+"/moved", "{}")

	s.send(t, "POST", betaGizmosPath, gizmo("v1beta1", "held"))
	s.send(t, "DELETE", "/api/v1/namespaces/shop", "{}")
	s.gone(t, "/api/v1/namespaces/shop")
	s.gone(t, betaGizmosPath+"/held")

	s.send(t, "DELETE", definitionsPath+"/gizmos.example.com", "{}")
	s.gone(t, definitionsPath+"/gizmos.example.com")
	s.send(t, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	s.send(t, "POST", definitionsPath, gizmoDefinition)
	s.owned(t, "last", "v1beta1")
	s.send(t, "PATCH", gizmosPath+"/last",
		`[{"op":"add","path":"/metadata/finalizers","value":["example.com/hold"]}]`)
	s.send(t, "DELETE", definitionsPath+"/gizmos.example.com", "{}")
	terminating := s.get(t, definitionsPath+"/gizmos.example.com").body
	for _, want := range []string{"InstanceDeletionInProgress", "customresourcecleanup.apiextensions.k8s.io"} {
		if !strings.Contains(terminating, want) {
			t.Errorf("a definition whose objects are held lacks %q: %s", want, terminating)
		}
	}
	s.send(t, "PATCH", gizmosPath+"/last", `[{"op":"remove","path":"/metadata/finalizers"}]`)
	s.gone(t, definitionsPath+"/gizmos.example.com")
	// The garbage collector may have met a reference to the deleted kind five times.
	unresolved := regexp.MustCompile(`garbagecollector fails, .*: no matches for kind "Gizmo" .*\n`)
	if code, stderr := s.stop(); code != 0 || unresolved.ReplaceAllString(stderr, "") != "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// With a kubelet, a pod looks as on a node: it has addresses, conditions with times, started containers and Events. A
// pod that ends looks ended.
func TestServePodsAreLifelike(t *testing.T) {
	for _, controllers := range []string{"kubelet", "kubelet,scheduler"} {
		s := startServe(t, "--controllers", controllers)
		for _, pod := range []string{
			`{"metadata":{"name":"a"},"spec":{"initContainers":[{"name":"i","image":"busybox"}],"containers":[{` +
				`"name":"c","image":"nginx"}]}}`,
			`{"metadata":{"name":"b"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox"}]}}`,
			`{"metadata":{"name":"h"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"busybox"}]}}`,
		} {
			if got := s.post(t, podsPath, pod); got.code != 201 {
				t.Fatal(got)
			}
		}
		pods := map[string]*corev1.Pod{}
		s.until(t, podsPath, func(_ string, p *corev1.Pod) bool {
			pods[p.Name] = p
			return len(pods) == 3 && pods["a"].Status.Phase == corev1.PodRunning &&
				pods["b"].Status.Phase == corev1.PodSucceeded && pods["h"].Status.Phase == corev1.PodRunning
		})
		for _, p := range pods {
			lively(t, p)
		}
		if ip := pods["h"].Status.PodIP; ip != pods["h"].Status.HostIP || ip == pods["a"].Status.PodIP ||
			pods["a"].Status.PodIP == pods["b"].Status.PodIP {
			t.Errorf("addresses: %s %s %s", ip, pods["a"].Status.PodIP, pods["b"].Status.PodIP)
		}
		if st := pods["b"].Status.ContainerStatuses[0].State.Terminated; st == nil || st.Reason != "Completed" ||
			st.StartedAt.IsZero() || st.FinishedAt.IsZero() || !strings.HasPrefix(st.ContainerID, "containerd://") {
			t.Errorf("b ended as %+v", st)
		}
		if got, want := s.events(t, "a"), []string{
			"Scheduled: Successfully assigned default/a to node-1",
			`Pulled: Container image "busybox" already present on machine and can be accessed by the pod`,
			"Created: Container created", "Started: Container started",
			`Pulled: Container image "nginx" already present on machine and can be accessed by the pod`,
			"Created: Container created", "Started: Container started",
		}; !slices.Equal(got, want) {
			t.Errorf("with %s the Events of a are %q, want %q", controllers, got, want)
		}
		if code, stderr := s.stop(); code != 0 || stderr != "" {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}
}

// lively checks what each pod has that has run.
func lively(t *testing.T, p *corev1.Pod) {
	t.Helper()
	st := &p.Status
	for _, ip := range []string{st.HostIP, st.PodIP} {
		if _, err := netip.ParseAddr(ip); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if p.Spec.NodeName != "node-1" || st.StartTime == nil || len(st.HostIPs) != 1 || len(st.PodIPs) != 1 ||
		st.PodIPs[0].IP != st.PodIP || st.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("%s: node %q, %+v", p.Name, p.Spec.NodeName, st)
	}
	running := st.Phase == corev1.PodRunning
	want := map[corev1.PodConditionType]bool{corev1.PodReadyToStartContainers: running, corev1.PodInitialized: true,
		corev1.PodReady: running, corev1.ContainersReady: running, corev1.PodScheduled: true}
	for _, c := range st.Conditions {
		if is, known := want[c.Type]; !known || is != (c.Status == corev1.ConditionTrue) ||
			time.Since(c.LastTransitionTime.Time) > time.Hour {
			t.Errorf("%s: condition %+v", p.Name, c)
		}
		delete(want, c.Type)
	}
	if len(want) > 0 {
		t.Errorf("%s lacks the conditions %v", p.Name, want)
	}
	for _, c := range st.ContainerStatuses {
		if c.Ready != running || *c.Started != running || !strings.HasPrefix(c.ContainerID, "containerd://") ||
			!strings.HasPrefix(c.ImageID, "sha256:") || running && c.State.Running.StartedAt.IsZero() {
			t.Errorf("%s: container %+v", p.Name, c)
		}
	}
}

func (s *served) events(t *testing.T, pod string) (list []string) {
	t.Helper()
	var events corev1.EventList
	got := s.get(t, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name="+pod)
	if err := json.Unmarshal([]byte(got.body), &events); err != nil {
		t.Fatal(err, got)
	}
	slices.SortFunc(events.Items, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range events.Items {
		list = append(list, e.Reason+": "+e.Message)
	}
	return list
}

// A server calls webhooks, also for its controllers' writes, and serves other requests meanwhile.
func TestServeCallsWebhooks(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset")
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		s.post(t, configsPath, `{"metadata":{"generateName":"seen-"}}`)
		kind := admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, PatchType: &kind,
			Patch: []byte(`[{"op":"add","path":"/metadata/annotations","value":{"by":"hook"}}]`)}
		json.NewEncoder(w).Encode(&review)
	}))
	hook.Config.ErrorLog = log.New(io.Discard, "", 0)
	hook.StartTLS()
	defer hook.Close()
	bundle, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}))
	if err != nil {
		t.Fatal(err)
	}
	got := s.post(t, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", fmt.Sprintf(
		`{"metadata":{"name":"m"},"webhooks":[{"name":"m.example.com","sideEffects":"None",
		"admissionReviewVersions":["v1"],"clientConfig":{"url":%q,"caBundle":%s},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
		"resources":["pods"]}]}]}`, hook.URL, bundle))
	if got.code != 201 || len(got.warnings) > 0 {
		t.Fatalf("%d %s, warnings %q", got.code, got.body, got.warnings)
	}
	s.post(t, setsPath, `{"metadata":{"name":"r"},"spec":{"replicas":3,`+
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",`+
		`"image":"i"}]}}}}`)
	pods := map[string]bool{}
	s.until(t, podsPath, func(_ string, p *corev1.Pod) bool {
		if p.Annotations["by"] != "hook" {
			t.Errorf("a Pod that no webhook has seen: %v", p)
		}
		pods[p.Name] = true
		return len(pods) == 3
	})
	if list := s.get(t, configsPath); strings.Count(list.body, `"generateName"`) < 3 {
		t.Errorf("the webhook made %s", list.body)
	}
}
