package agent_test

import (
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/agent"
)

// A program's own webhook is called with the certificate of a volume, which appears when the Secret does.
func TestWebhook(t *testing.T) {
	b := program(t, "bare", "webhook")
	b.Projections = []agent.Projection{{Kind: "Secret", Namespace: "default", Name: "certs", Path: "/certs"}}
	w := run(t, b.Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	create := func(o runtime.Object, namespace string) error {
		t.Helper()
		_, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindOf(o), Namespace: namespace, Object: o})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	certificate, key := agent.Certificate("hook.default.svc")
	must(create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "hook", Namespace: "default"}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(9443)}}}}, "default"))
	must(create(&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "hook"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "hook.example.com",
			AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(agent.Authority),
				Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hook", Path: ptr.To("/validate")}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
					Resources: []string{"configmaps"}}}}}}}, ""))
	configMap := func(name string) error {
		return create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}, "default")
	}
	if err := configMap("early"); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("without a certificate the program does not listen, and the error is %v", err)
	}
	must(create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "certs", Namespace: "default"},
		StringData: map[string]string{"tls.crt": certificate, "tls.key": key}}, "default"))
	w.World.Clock.Advance(10 * time.Second)
	must(configMap("good"))
	if err := configMap("bad"); err == nil || !strings.Contains(err.Error(), "denied the request") {
		t.Errorf("the webhook denies it, and the error is %v", err)
	}
	w.Cluster.Process("keeper").Crash(false)
	if err := configMap("late"); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("no process listens, and the error is %v", err)
	}
}
