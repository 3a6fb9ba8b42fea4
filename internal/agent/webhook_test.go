package agent_test

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
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
	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// A program's webhook is called with the certificate in a volume. The certificate appears when its Secret is created.
// A configuration without a CA bundle trusts the CA of this certificate.
func TestWebhook(t *testing.T) {
	w := withWebhook(t)
	refused(t, w, "early", "connection refused") // the program does not listen without a certificate
	must(t, create(w, serving("hook.default.svc")))
	w.World.Clock.Advance(10 * time.Second)
	must(t, create(w, configMap("good")))
	refused(t, w, "bad", "denied the request")
	svc := hookService()
	svc.Spec.Ports[0].Port = 9443
	must(t, request(w, fakeapi.Update, svc))
	refused(t, w, "good-too", `no service port 443 found for service "hook"`)
	must(t, request(w, fakeapi.Update, hookService()))
	w.Cluster.Process("keeper").Crash(false)
	refused(t, w, "late", "connection refused")
}

// If a webhook panics, the refusal of the request says so.
func TestWebhookPanics(t *testing.T) {
	w := withWebhook(t)
	must(t, create(w, serving("hook.default.svc")))
	w.World.Clock.Advance(10 * time.Second)
	refused(t, w, "panics", "panic: no label")
}

// withWebhook returns a world with a program and the configuration of its webhook. The certificate does not exist yet.
func withWebhook(t *testing.T) *trial.Trial {
	t.Helper()
	b := program(t, "bare", "webhook")
	b.Projections = certificates
	w := run(t, b.Controller(keeper), sim.Zero{}, nil)
	t.Cleanup(w.Stop)
	register(t, w, "")
	return w
}

// The webhook server of controller-runtime reloads its certificate when the Secret changes.
func TestCertificateWatcher(t *testing.T) {
	b := mainIn(t, filepath.Join("testdata", "operator"), "./cmd/webhook", "--certs=/certs")
	b.Projections = certificates
	w := trial.New(trial.Options{Choices: sim.Zero{}})
	defer w.Stop()
	must(t, create(w, serving("hook.default.svc")))
	w.Start("keeper", b.Controller(keeper))
	w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
	register(t, w, agent.Authority)
	must(t, create(w, configMap("good")))
	refused(t, w, "bad", "the name is bad")
	for _, name := range []string{"other.default.svc", "hook.default.svc"} {
		s := secret(w, "certs").DeepCopy()
		s.StringData = serving(name).StringData
		_, err := w.Request(&fakeapi.Request{Verb: fakeapi.Update, Kind: w.Server.KindOf(s), Namespace: "default", Name: "certs", Object: s})
		must(t, err)
		w.World.Clock.Advance(time.Minute)
		if err := create(w, configMap("with-"+name)); (err == nil) != (name == "hook.default.svc") {
			t.Errorf("with a certificate of %s, the error is %v", name, err)
		}
	}
	if waits := strings.Join(b.Waits(), "\n"); !strings.Contains(waits, "waits for I/O, at fsnotify@v1.9.0/backend_inotify.go:") {
		t.Errorf("it waits for\n%s", waits)
	}
	if v := w.Broken(); v != nil {
		t.Error(v)
	}
}

// The requests of a program come from its service account, so that admission can know them.
func TestServiceAccount(t *testing.T) {
	b := program(t, "manager")
	b.Account = "operator"
	w := trial.New(trial.Options{Choices: sim.Zero{}})
	defer w.Stop()
	must(t, create(w, &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "secrets"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
						Resources: []string{"secrets"}}}}}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "request.userInfo.username == 'system:serviceaccount:default:operator'"}}}}))
	must(t, create(w, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "secrets"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "secrets",
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}}}))
	if err := create(w, serving("user.default.svc")); err == nil {
		t.Error("the user can create a Secret")
	}
	owner := configMap("m0")
	owner.Data = map[string]string{"mode": "quiet"}
	must(t, create(w, owner))
	w.Start("keeper", b.Controller(keeper))
	w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
	if n := secrets(w); n != 1 {
		t.Errorf("%d secrets, want 1", n)
	}
}

var certificates = []agent.Projection{{Kind: "Secret", Namespace: "default", Name: "certs", Path: "/certs"}}

// serving returns a Secret with a certificate for a host name.
func serving(name string) *corev1.Secret {
	certificate, key := agent.Certificate(name)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "certs", Namespace: "default"},
		StringData: map[string]string{"tls.crt": certificate, "tls.key": key}}
}

// register creates the Service and the configuration of a webhook for ConfigMaps.
func register(t *testing.T, w *trial.Trial, bundle string) {
	t.Helper()
	must(t, create(w, hookService()))
	validate(t, w, bundle)
}

func hookService() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "hook", Namespace: "default"}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(9443)}}}}
}

// validate creates the configuration of a webhook for ConfigMaps.
func validate(t *testing.T, w *trial.Trial, bundle string) {
	t.Helper()
	must(t, create(w, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "hook"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "hook.example.com",
			AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(bundle),
				Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hook", Path: ptr.To("/validate")}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
					Resources: []string{"configmaps"}}}}}}}))
}

// create creates an object as the user.
func create(w *trial.Trial, o runtime.Object) error { return request(w, fakeapi.Create, o) }

func request(w *trial.Trial, verb fakeapi.Verb, o runtime.Object) error {
	m := o.(metav1.Object)
	_, err := w.Request(&fakeapi.Request{Verb: verb, Kind: w.Server.KindOf(o), Namespace: m.GetNamespace(), Name: m.GetName(),
		Object: o})
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// refused fails the test if a ConfigMap can be created, or is refused for another reason.
func refused(t *testing.T, w *trial.Trial, name, why string) {
	t.Helper()
	if err := create(w, configMap(name)); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("the ConfigMap %s is not refused with %s: %v", name, why, err)
	}
}

// If a program fails for ever with its sample alone, and cannot remove its finalizer from the deleted sample for this
// reason, the finalizer is not judged.
func TestStuckFinalizer(t *testing.T) {
	sample, err := check.Read("sample.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	must(t, err)
	plan, err := check.Prepare(t.Context(), check.Operator{Controller: program(t, "bare", "stuck").Controller(host.Controller{Name: "bare"}),
		Schedules: 1, Sample: sample})
	must(t, err)
	all := plan.Verdicts(nil)
	v := all[slices.IndexFunc(all, func(v check.Verdict) bool { return v.Name == "nothing-stays-terminating" })]
	if !strings.Contains(v.Why, "its deleted sample stays terminating after the error ERROR no such secret") {
		t.Errorf("the verdict is %+v\n%s", v, plan)
	}
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// admitting prepares a check of a program with a mutating webhook for ConfigMaps and Widgets. It installs more objects.
func admitting(t *testing.T, sample, operation string, more ...string) (*check.Plan, error) {
	t.Helper()
	read := func(name, text string) *check.File {
		t.Helper()
		f, err := check.Read(name, []byte(text))
		must(t, err)
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
  rules: [{operations: [%s], apiGroups: ["", example.com], apiVersions: [v1], resources: [configmaps, widgets]}]
---
%s`, encoded(certificate), encoded(key), encoded(agent.Authority), operation, strings.Join(more, "---")))
	b := program(t, "bare", "webhook")
	b.Projections = []agent.Projection{{Kind: "Secret", Namespace: "default", Name: "certs", Path: "/certs"}}
	s := check.Operator{Controller: b.Controller(host.Controller{Name: "bare"}), Schedules: 1,
		CRDs:   []*check.File{read("crds.yaml", widgets)},
		Sample: read("sample.yaml", sample), Server: &fakeapi.Options{WebhooksLater: true}}
	for _, o := range install.Objects {
		s.Installed = append(s.Installed, o.Unstructured)
	}
	return check.Prepare(t.Context(), s)
}

// The sample in each world contains the changes by the operator's webhooks.
func TestSampleIsAdmitted(t *testing.T) {
	plan, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, annotations: {kept: yes-it-is}}\n", "CREATE")
	must(t, err)
	world := plan.Cases[0].World(nil).World
	for _, want := range []string{"admitted: \"yes\"", "kept: yes-it-is", "name: good"} {
		if !strings.Contains(world, want) {
			t.Errorf("the world lacks %q:\n%s", want, world)
		}
	}
}

// A custom object that is installed beside the operator in each world contains the changes by the operator's webhooks.
func TestInstalledObjectIsAdmitted(t *testing.T) {
	plan, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n", "CREATE", `
apiVersion: example.com/v1
kind: Widget
metadata: {name: good, namespace: default}
`)
	must(t, err)
	installed := plan.Cases[0].World(nil).Installed
	if !regexp.MustCompile(`kind: Widget\n(.*\n)*? +admitted: "yes"`).MatchString(installed) {
		t.Errorf("the Widget is not admitted:\n%s", installed)
	}
}

// If the operator's webhook denies the sample, Prepare returns an error of one line.
func TestSampleIsDenied(t *testing.T) {
	_, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\n", "CREATE")
	want := "sample.yaml:1: with the operator's webhooks the server refuses cm/bad: "
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// If the operator's webhook denies the label of the case two-owners, the case does not require the label. If the webhook
// does not answer yet, the user adds the label later.
func TestDeniedLabelIsNotMissed(t *testing.T) {
	for _, name := range []string{"bad", "late"} {
		t.Run(name, func(t *testing.T) { keepsLabel(t, name) })
	}
}

func keepsLabel(t *testing.T, name string) {
	plan, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+"}\n", "UPDATE")
	must(t, err)
	i := slices.IndexFunc(plan.Cases, func(c check.DerivedCase) bool { return c.Name == "two-owners" })
	world := plan.Cases[i].World(nil)
	world.Faults = nil // the program does not retry a failed creation
	x, err := world.Explore(t.Context(), t.TempDir(), scenarios.ExploreOptions{Schedules: 3, Steps: 30_000})
	must(t, err)
	if len(x.Failures) > 0 {
		t.Error(x.Text())
	}
}
