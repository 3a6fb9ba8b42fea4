package agent_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/agent"
	"github.com/threelaws/threelaws/sim/host"
)

// admitting prepares a check of a program whose mutating webhook sees each ConfigMap.
func admitting(t *testing.T, sample string) (*check.Plan, error) {
	t.Helper()
	read := func(name, text string) *check.File {
		t.Helper()
		f, err := check.Read(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	certificate, key := agent.Certificate("hook.default.svc")
	install := read("install.yaml", fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: default}
spec: {ports: [{port: 443, targetPort: 9443}]}
---
apiVersion: v1
kind: Secret
metadata: {name: certs, namespace: default}
data: {tls.crt: %s, tls.key: %s}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: hook}
webhooks:
- name: hook.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {caBundle: %s, service: {namespace: default, name: hook, path: /mutate}}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
`, encoded(certificate), encoded(key), encoded(agent.Authority)))
	b := program(t, "bare", "webhook")
	b.Projections = []agent.Projection{{Kind: "Secret", Namespace: "default", Name: "certs", Path: "/certs"}}
	s := check.Subject{Controller: b.Controller(host.Controller{Name: "bare"}), Schedules: 1,
		Sample: read("sample.yaml", sample), Server: &fakeapi.Options{WebhooksLater: true}}
	for _, o := range install.Objects {
		s.Installed = append(s.Installed, o.Unstructured)
	}
	return check.Prepare(t.Context(), s)
}

// The sample of each world is what the operator's webhooks make of it: none exists that has not passed them.
func TestSampleIsAdmitted(t *testing.T) {
	plan, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, annotations: {kept: yes-it-is}}\n")
	if err != nil {
		t.Fatal(err)
	}
	world := plan.Cases[0].World(nil).World
	for _, want := range []string{"admitted: \"yes\"", "kept: yes-it-is", "name: good"} {
		if !strings.Contains(world, want) {
			t.Errorf("the world lacks %q:\n%s", want, world)
		}
	}
}

// A sample that the operator's webhook denies is a mistake, in one line.
func TestSampleIsDenied(t *testing.T) {
	_, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\n")
	want := "sample.yaml:1: with the operator's webhooks the server refuses cm/bad: "
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
