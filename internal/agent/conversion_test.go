package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// converting returns a world with a CRD whose conversion webhook is part of the program. Its server is a fork, so the
// server that has read the CRD is not the one that calls the webhook.
func converting(t *testing.T, choices sim.Choices) *trial.Trial {
	t.Helper()
	server := fakeapi.New(fakeapi.Options{WebhooksLater: true})
	resp, _ := server.Do(sim.Epoch, &fakeapi.Request{Verb: fakeapi.Create,
		Kind: server.KindNamed("customresourcedefinition"), Object: gauges()})
	if resp.Err != nil {
		t.Fatal(resp.Err)
	}
	w := trial.New(trial.Options{Choices: choices, Server: server.Fork()})
	must(t, create(w, serving("hook.default.svc")))
	must(t, create(w, hookService()))
	must(t, create(w, gauge("v2", "listed", "7cm")))
	return w
}

// levels returns what the program has read of each Gauge.
func levels(w *trial.Trial) string {
	var all []string
	w.Server.Each(w.Server.KindNamed("secret"), func(obj runtime.Object) bool {
		if s := obj.(*corev1.Secret); s.Data["level"] != nil {
			name, _, _ := strings.Cut(s.Name, "-")
			all = append(all, name+"="+string(s.Data["level"]))
		}
		return true
	})
	return strings.Join(all, " ")
}

// A program that reads another version than the stored one gets what its own conversion webhook makes of each object, in
// lists, watches and responses. If the webhook fails, the program gets its error.
func TestConversionWebhook(t *testing.T) {
	b := program(t, "bare", "converts")
	b.Projections = certificates
	w := converting(t, sim.Zero{})
	defer w.Stop()
	w.Start("keeper", b.Controller(keeper))
	step := func(g *unstructured.Unstructured) {
		if g != nil {
			must(t, create(w, g))
		}
		w.Settle(trial.Limits{Writes: 1000, Steps: 500})
	}
	step(nil)
	step(gauge("v2", "watched", "8cm"))
	step(gauge("v1", "older", int64(9)))
	step(gauge("v2", "bad", "high"))
	if got := levels(w); got != "listed=7 older=9 watched=8" {
		t.Errorf("the program has read %q", got)
	}
	older := w.Server.Lookup(w.Server.KindNamed("gauge").Stored(), "default", "older").(*unstructured.Unstructured)
	if level, _, _ := unstructured.NestedString(older.Object, "spec", "level"); level != "9cm" {
		t.Errorf("stored is %v", older.Object)
	}
	printed := strings.Join(w.Cluster.Process("keeper").Printed(200), "\n")
	const why = "conversion webhook for example.com/v2, Kind=Gauge failed: no level: high"
	for _, want := range []string{"watch: ", "list: ", why} {
		if !strings.Contains(printed, want) {
			t.Errorf("the program has not printed %q, but\n%.500s", want, printed)
		}
	}
	w.Cluster.Process("keeper").Crash(false)
	if err := create(w, gauge("v1", "late", int64(1))); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("while the program does not run, the error is %v", err)
	}
}

// While a validating webhook answers, it reads a Gauge in another version, so the same program converts the Gauge.
func TestWebhookCallsWebhook(t *testing.T) {
	b := program(t, "bare", "converts")
	b.Projections = certificates
	w := converting(t, sim.Zero{})
	defer w.Stop()
	w.Start("keeper", b.Controller(keeper))
	w.Settle(trial.Limits{Writes: 1000, Steps: 500})
	validate(t, w, agent.Authority)
	must(t, create(w, configMap("listed")))
	refused(t, w, "absent", "denied the request")
}

// A conversion takes the time of the program. Two runs of a seed are equal nevertheless.
func TestConversionsRepeat(t *testing.T) {
	b := program(t, "bare", "converts")
	b.Projections = certificates
	for seed := range uint64(10) {
		var hashes [2]uint64
		for i := range hashes {
			w := converting(t, sim.NewSeed(seed))
			must(t, w.Faults(map[string]int{"crash": 1, "relist": 1}))
			w.Start("keeper", b.Controller(keeper))
			w.World.Clock.Advance(time.Second)
			must(t, create(w, gauge("v2", "watched", "8cm")))
			w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
			if got := levels(w); got != "listed=7 watched=8" {
				t.Errorf("seed %d: the program has read %q", seed, got)
			}
			hashes[i] = w.World.Hash()
			w.Stop()
		}
		if hashes[0] != hashes[1] {
			t.Errorf("seed %d: its runs differ", seed)
		}
	}
}

// A sample in another version than the stored one is converted by the program before the cases begin.
func TestSampleIsConverted(t *testing.T) {
	read := func(name string, o runtime.Object) *check.File {
		text, err := yaml.Marshal(o)
		must(t, err)
		f, err := check.Read(name, text)
		must(t, err)
		return f
	}
	b := program(t, "bare", "converts")
	b.Projections = certificates
	s := check.Operator{Controller: b.Controller(host.Controller{Name: "bare"}), Schedules: 1,
		CRDs: []*check.File{read("crd.yaml", gauges())}, Sample: read("sample.yaml", gauge("v1", "a", int64(9))),
		Server: &fakeapi.Options{WebhooksLater: true}}
	for _, o := range []runtime.Object{serving("hook.default.svc"), hookService()} {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		must(t, err)
		u := &unstructured.Unstructured{Object: m}
		u.SetAPIVersion("v1")
		u.SetKind(strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1."))
		s.Installed = append(s.Installed, u)
	}
	plan, err := check.Prepare(t.Context(), s)
	must(t, err)
	world := plan.Cases[0].World(nil).World
	if !strings.Contains(world, "level: 9cm") || !strings.Contains(world, "apiVersion: example.com/v2") {
		t.Errorf("the world is\n%s", world)
	}
}

// gauges returns a CRD whose stored version v2 has a text where v1 has a number.
func gauges() *apiextensionsv1.CustomResourceDefinition {
	version := func(name, level string, stored bool) apiextensionsv1.CustomResourceDefinitionVersion {
		spec := apiextensionsv1.JSONSchemaProps{Type: "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"level": {Type: level}}}
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: stored,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}}}
	}
	path := "/convert"
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "gauges.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Scope: "Namespaced",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gauges", Kind: "Gauge"},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"},
					ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte(agent.Authority),
						Service: &apiextensionsv1.ServiceReference{Namespace: "default", Name: "hook", Path: &path}}}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				version("v1", "integer", false), version("v2", "string", true)}}}
}

func gauge(version, name string, level any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/" + version, "kind": "Gauge",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{"level": level}}}
}
