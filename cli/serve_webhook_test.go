package cli

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
)

// serve calls webhooks, also for what its controllers write, and answers others meanwhile:
// the webhook itself.
func TestServeCallsWebhooks(t *testing.T) {
	s := startServe(t, "--controllers", "replicaset")
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		s.post(t, "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"seen-"}}`)
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
	s.post(t, "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"r"},"spec":{"replicas":3,`+
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",`+
		`"image":"i"}]}}}}`)
	pods := map[string]bool{}
	s.until(t, "/api/v1/namespaces/default/pods", func(_ string, p *corev1.Pod) bool {
		if p.Annotations["by"] != "hook" {
			t.Errorf("a Pod that no webhook has seen: %v", p)
		}
		pods[p.Name] = true
		return len(pods) == 3
	})
	if list := s.get(t, "/api/v1/namespaces/default/configmaps"); strings.Count(list.body, `"generateName"`) < 3 {
		t.Errorf("the webhook made %s", list.body)
	}
}
