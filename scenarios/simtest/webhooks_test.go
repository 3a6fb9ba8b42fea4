package simtest_test

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

const labels = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: labels}
webhooks:
- name: labels.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: https://labels.example.com/}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`

type answer = func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

func label(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	patch := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, PatchType: &patch,
		Patch: []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"keep": "yes"}}]`)}
}

// A world's webhooks are asked: what one labels is what the controller keeps a Secret for.
func TestWebhooks(t *testing.T) {
	c := simtest.Case{
		Controllers: []host.Controller{keeper(keep)},
		World:       labels,
		Server:      &fakeapi.Options{Webhooks: map[string]answer{"labels.example.com": label}},
		User: []simtest.Action{{Name: "ask", Do: func(user host.Client) error {
			_, err := user.Create(t.Context(), &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
			return err
		}}},
		AtRest: func(user host.Client) error {
			_, err := user.Get(t.Context(), secrets, "default", "a")
			return err
		},
		Schedules: 50,
	}
	simtest.Check(t, c)
}
