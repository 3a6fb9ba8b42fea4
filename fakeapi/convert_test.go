package fakeapi

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
)

// gauges returns a CRD with two versions. v1 has a number where v2 has a text with a unit.
func gauges() *crd.Definition {
	version := func(name, kind string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: storage,
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"level": {Type: kind}}},
					"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"level": {Type: kind}}}}}}}
	}
	url := "https://127.0.0.1:1/convert"
	return &crd.Definition{ObjectMeta: metav1.ObjectMeta{Name: "gauges.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Scope: "Namespaced",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gauges", Kind: "Gauge"},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"},
					ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url}}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				version("v1", "integer", true), version("v2", "string", false)}}}
}

func levels(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	for _, part := range []string{"spec", "status"} {
		at, ok := obj.Object[part].(map[string]any)
		if !ok {
			continue
		}
		switch level := at["level"].(type) {
		case int64:
			at["level"] = strconv.FormatInt(level, 10) + "cm"
		case string:
			n, err := strconv.ParseInt(strings.TrimSuffix(level, "cm"), 10, 64)
			if err != nil {
				return nil, errors.New("no level: " + level)
			}
			at["level"] = n
		}
	}
	obj.SetGroupVersionKind(to.WithKind(obj.GetKind()))
	return obj, nil
}

var gaugeKind = schema.GroupKind{Group: "example.com", Kind: "Gauge"}

func gaugeServer(t *testing.T, by Convert) (s *Server, v1, v2 *Kind) {
	t.Helper()
	opts := Options{}
	if by != nil {
		opts.Convert = map[schema.GroupKind]Convert{gaugeKind: by}
	}
	s = New(opts)
	must(t, s, &Request{Verb: Create, Kind: definitionKind, Object: gauges()})
	return s, s.Kind(gaugeKind.WithVersion("v1")), s.Kind(gaugeKind.WithVersion("v2"))
}

func gauge(k *Kind, name string, level any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"level": level}}}
	u.SetGroupVersionKind(k.GVK)
	u.SetName(name)
	u.SetNamespace("default")
	return u
}

func level(t *testing.T, obj any) any {
	t.Helper()
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		t.Fatalf("%T is no gauge", obj)
	}
	value, _, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "level")
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// If a conversion fails, the request fails. It never returns the object in the wrong version.
func TestConversionThatFails(t *testing.T) {
	change := func(f func(u *unstructured.Unstructured)) Convert {
		return func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
			out, err := levels(obj, to)
			if err == nil {
				f(out)
			}
			return out, err
		}
	}
	const head = "conversion webhook for example.com/v1, Kind=Gauge "
	for _, c := range []struct {
		what, want string
		by         Convert
	}{
		{"an error", head + "failed: out of order", func(*unstructured.Unstructured,
			schema.GroupVersion) (*unstructured.Unstructured, error) {
			return nil, errors.New("out of order")
		}},
		{"nothing", head + "failed: Options.Convert made nothing of a", func(*unstructured.Unstructured,
			schema.GroupVersion) (*unstructured.Unstructured, error) {
			return nil, nil
		}},
		{"nobody", head + "failed: nobody converts gauges.example.com here: Options.Convert has no function for " +
			"Gauge.example.com", nil},
		{"another version", head + "returned invalid object at index 0: invalid groupVersion (expected " +
			"example.com/v2, received example.com/v3)", change(func(u *unstructured.Unstructured) {
			u.SetAPIVersion("example.com/v3")
		})},
		{"another kind", head + "returned invalid object at index 0: invalid kind (expected Gauge, received Meter)",
			change(func(u *unstructured.Unstructured) { u.SetKind("Meter") })},
		{"another name", head + "returned invalid object: must have the same name: a != b",
			change(func(u *unstructured.Unstructured) { u.SetName("b") })},
		{"another uid", head + "returned invalid object: must have the same UID: ",
			change(func(u *unstructured.Unstructured) { u.SetUID("x") })},
		{"a bad label", head + "returned invalid metadata: metadata.labels: Invalid value: \"?\"",
			change(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"?": ""}) })},
		{"no text", head + "returned invalid metadata: metadata.annotations[a] must be a string, but is int64",
			change(func(u *unstructured.Unstructured) {
				u.Object["metadata"].(map[string]any)["annotations"] = map[string]any{"a": int64(1)}
			})},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, v1, v2 := gaugeServer(t, c.by)
			must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "a", int64(1))})
			refused(t, s, &Request{Verb: Get, Kind: v2, Namespace: "default", Name: "a"}, 500, c.want)
			refused(t, s, &Request{Verb: List, Kind: v2}, 429,
				"storage is (re)initializing: failed to list example.com/v2, Kind=Gauge: "+c.want)
			refused(t, s, &Request{Verb: Patch, Kind: v2, Namespace: "default", Name: "a",
				PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"labels":{"x":"y"}}}`)}, 500, c.want)
			refused(t, s, &Request{Verb: Delete, Kind: v2, Namespace: "default", Name: "a"}, 500, c.want)
			refused(t, s, &Request{Verb: DeleteCollection, Kind: v2, Namespace: "default"}, 429, c.want)
			w, err := s.Watch(v2, "", "", metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if events := w.Next(); len(events) != 1 || events[0].Type != "ERROR" || !w.Done() {
				t.Errorf("the watch has the events %v", events)
			}
			if obj := s.Lookup(v1, "default", "a"); level(t, obj) != int64(1) {
				t.Errorf("stored is %v", obj)
			}
		})
	}
}

// As long as nobody can call the webhooks of a program, an admission webhook for another version than the stored one is
// skipped before anything is converted for it. Reads in that version are refused.
func TestWebhooksLaterConvertNothing(t *testing.T) {
	s := New(Options{WebhooksLater: true})
	must(t, s, &Request{Verb: Create, Kind: definitionKind, Object: gauges()})
	v1, v2 := s.Kind(gaugeKind.WithVersion("v1")), s.Kind(gaugeKind.WithVersion("v2"))
	url, none := "https://127.0.0.1:1/validate", registration.SideEffectClassNone
	must(t, s, &Request{Verb: Create, Kind: validatingHooks, Object: &registration.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gauges"}, Webhooks: []registration.ValidatingWebhook{{Name: "gauges.example.com",
			ClientConfig: registration.WebhookClientConfig{URL: &url}, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			Rules: []registration.RuleWithOperations{{Operations: []registration.OperationType{"*"}, Rule: registration.Rule{
				APIGroups: []string{"example.com"}, APIVersions: []string{"v2"}, Resources: []string{"gauges"}}}}}}}})
	must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "a", int64(1))})
	refused(t, s, &Request{Verb: Get, Kind: v2, Namespace: "default", Name: "a"}, 500,
		"nobody converts gauges.example.com yet")
}

// After a change of the storage version, older objects are converted. Objects of a removed version cannot be read.
func TestConversionOfWhatWasStored(t *testing.T) {
	s, v1, _ := gaugeServer(t, levels)
	must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "old", int64(1))})
	define := func(change func(d *crd.Definition), sub string) {
		d := s.Lookup(definitionKind, "", "gauges.example.com").DeepCopyObject().(*crd.Definition)
		change(d)
		must(t, s, &Request{Verb: Update, Kind: definitionKind, Subresource: sub, Name: d.Name, Object: d})
	}
	define(func(d *crd.Definition) { d.Spec.Versions[0].Storage, d.Spec.Versions[1].Storage = false, true }, "")
	v2 := s.Kind(gaugeKind.WithVersion("v2"))
	if r := must(t, s, &Request{Verb: Get, Kind: v2, Namespace: "default", Name: "old"}); level(t, r.Object) != "1cm" {
		t.Errorf("the object stored as v1 is read as %v", r.Object)
	}
	must(t, s, &Request{Verb: Create, Kind: v2, Namespace: "default", Object: gauge(v2, "new", "2cm")})
	define(func(d *crd.Definition) { d.Status.StoredVersions = []string{"v2"} }, "status")
	define(func(d *crd.Definition) { d.Spec.Versions = d.Spec.Versions[1:] }, "")
	v2 = s.Kind(gaugeKind.WithVersion("v2"))
	const why = "request to convert CR from an invalid group/version: example.com/v1"
	refused(t, s, &Request{Verb: List, Kind: v2}, 429,
		"storage is (re)initializing: failed to list example.com/v2, Kind=Gauge: "+why)
	refused(t, s, &Request{Verb: Get, Kind: v2, Namespace: "default", Name: "old"}, 500, why)
	if r := must(t, s, &Request{Verb: Get, Kind: v2, Namespace: "default", Name: "new"}); level(t, r.Object) != "2cm" {
		t.Errorf("the object stored as v2 is read as %v", r.Object)
	}
	if _, err := s.Watch(v2, "", "", metav1.ListOptions{}); err == nil {
		t.Error("a watch started, although an object cannot be read")
	}
}
