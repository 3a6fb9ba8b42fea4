package trial_test

import (
	"context"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// A world in which a program cannot reach a server outside is not judged as a settled world.
func TestProgramWithoutItsServer(t *testing.T) {
	for text, want := range map[string]string{
		"dial tcp: lookup db.default.svc: no such host": law.CutShort,
		"dial tcp 10.0.0.1:80: connection refused":      law.CutShort,
		"two Pods for one head":                         "",
	} {
		w := trial.New(trial.Options{})
		w.Start("failing", host.Hosting(host.Controller{Name: "failing", For: corev1.SchemeGroupVersion.WithKind("ConfigMap")},
			func(*host.Cluster, string) host.Program { return failing(text) }))
		if s := w.Settle(trial.Limits{}); !s.Settled {
			t.Errorf("%s: %+v", text, s)
		}
		last := w.World.History.At(w.World.History.Len() - 1)
		if last.Op != sim.Settled || last.Reason != want {
			t.Errorf("%s: the last record is %v with the reason %q, want %q", text, last.Op, last.Reason, want)
		}
		w.Stop()
	}
}

// A write that a webhook refuses again and again for the same reason is no change, so the world settles soon.
func TestRefusedByWebhook(t *testing.T) {
	none := registration.SideEffectClassNone
	url := "https://hook/"
	s := fakeapi.New(fakeapi.Options{Webhooks: map[string]func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse{
		"no.example.com": func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return &admissionv1.AdmissionResponse{Result: &metav1.Status{Code: 500, Message: "boom"}}
		}}})
	configMap := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	w := trial.New(trial.Options{Server: s})
	defer w.Stop()
	for _, o := range []runtime.Object{
		&registration.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "no"}, Webhooks: []registration.ValidatingWebhook{{
			Name: "no.example.com", ClientConfig: registration.WebhookClientConfig{URL: &url}, SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"}, Rules: []registration.RuleWithOperations{{
				Operations: []registration.OperationType{"UPDATE"}, Rule: registration.Rule{APIGroups: []string{""},
					APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}}}}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}},
	} {
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: s.KindOf(o), Namespace: o.(metav1.Object).GetNamespace(),
			Object: o}); err != nil {
			t.Fatal(err)
		}
	}
	w.Start("labels", host.Controller{Name: "labels", For: configMap, Routes: []host.Route{{Kind: configMap,
		Do: func(_ host.View, _ host.Event, out *host.Effect) { out.Keys = append(out.Keys, "default/a") }}},
		New: func(env *host.Env) host.Reconciler {
			env.Informer(configMap)
			return host.SyncFunc(func(ctx context.Context, _ string) error {
				_, err := env.Client.Patch(ctx, configMap, "default", "a",
					host.Patch{Type: types.MergePatchType, Data: []byte(`{"data":{"a":"b"}}`)})
				return err
			})
		}})
	if s := w.Settle(trial.Limits{}); !s.Settled || s.Steps > 1000 {
		t.Errorf("%+v", s)
	}
}

// failing is a program that does nothing, and has printed an error five times.
type failing string

func (failing) Start()                         {}
func (failing) Kill()                          {}
func (failing) Asked() []*host.Call            { return nil }
func (failing) Queried() []host.Query          { return nil }
func (failing) Ended() (error, bool)           { return nil, false }
func (failing) Answer(*host.Call)              {}
func (failing) Send(*host.Stream, watch.Event) {}

func (f failing) Printed(int) []string {
	return slices.Repeat([]string{"2017-03-01T00:00:00Z\tERROR\t" + string(f)}, 5)
}
