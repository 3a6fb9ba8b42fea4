package fakeapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

type (
	asked  = admissionv1.AdmissionRequest
	answer = admissionv1.AdmissionResponse
	// answers maps webhook names to functions.
	answers = map[string]func(*asked) *answer
)

func allow(patch string) func(*asked) *answer {
	return func(*asked) *answer {
		r := &answer{Allowed: true}
		if kind := admissionv1.PatchTypeJSONPatch; patch != "" {
			r.Patch, r.PatchType = []byte(patch), &kind
		}
		return r
	}
}

func deny(result *metav1.Status) func(*asked) *answer {
	return func(*asked) *answer { return &answer{Result: result} }
}

// configure creates a configuration with one webhook for ConfigMaps. Fields that are set in more replace the webhook's.
func configure(t testing.TB, s *Server, kind *Kind, name, more string) {
	t.Helper()
	if !strings.Contains(more, `"rules"`) {
		more += `,"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`
	}
	text := fmt.Sprintf(`{"metadata":{"name":"c-%s"},"webhooks":[{"name":"%s.example.com","sideEffects":"None",
		"admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1"}%s}]}`, name, name, more)
	made[runtime.Object](t, s, kind, text)
}

func configMap(name string, labels map[string]string) *Request {
	return &Request{Verb: Create, Kind: configMapKind, Namespace: "default",
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}}
}

// Mutating webhooks are called in the order of the configurations. A webhook may be called again after later changes.
func TestMutatingWebhooks(t *testing.T) {
	order := []string{}
	s := New(Options{Webhooks: answers{
		"a.example.com": func(r *asked) *answer {
			order = append(order, "a")
			var m corev1.ConfigMap
			if err := json.Unmarshal(r.Object.Raw, &m); err != nil {
				t.Error(err)
			}
			return allow(fmt.Sprintf(`[{"op":"add","path":"/metadata/labels","value":{"seen":"%d"}}]`, len(m.Data)))(r)
		},
		"b.example.com": func(r *asked) *answer {
			order = append(order, "b")
			return allow(`[{"op":"add","path":"/data","value":{"k":"v"}}]`)(r)
		},
	}})
	configure(t, s, mutatingHooks, "b", "")
	configure(t, s, mutatingHooks, "a", `,"reinvocationPolicy":"IfNeeded"`)
	m := must(t, s, configMap("x", nil)).Object.(*corev1.ConfigMap)
	if m.Data["k"] != "v" || m.Labels["seen"] != "1" || !slices.Equal(order, []string{"a", "b", "a"}) {
		t.Errorf("made %v %v after asking %v", m.Labels, m.Data, order)
	}
	r := must(t, s, &Request{Verb: Patch, Kind: configMapKind, Namespace: "default", Name: "x",
		PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"labels":{"seen":"9"}},"data":null}`)})
	if m := r.Object.(*corev1.ConfigMap); m.Data["k"] != "v" || m.Labels["seen"] != "1" {
		t.Errorf("patched to %v %v", m.Labels, m.Data)
	}
	dry := configMap("y", nil)
	dry.Create.DryRun = []string{metav1.DryRunAll}
	m = must(t, s, dry).Object.(*corev1.ConfigMap)
	if m.Data["k"] != "v" || s.Lookup(configMapKind, "default", "y") != nil {
		t.Errorf("a dry run makes %v", m)
	}
}

// A webhook cannot change the namespace or the kind of an object.
func TestMutatingWebhooksStayInPlace(t *testing.T) {
	patch := ""
	s := New(Options{Webhooks: answers{"m.example.com": func(r *asked) *answer { return allow(patch)(r) }}})
	configure(t, s, mutatingHooks, "m", "")
	for _, c := range []struct {
		patch, want string
		code        int32
	}{
		{`[{"op":"replace","path":"/metadata/namespace","value":"kube-system"}]`,
			"the namespace of the provided object does not match the namespace sent on the request", 400},
		{`[{"op":"replace","path":"/kind","value":"Secret"}]`, "the patch makes the object one of another kind", 500},
		{`[{"op":"replace","path":"/apiVersion","value":"v2"}]`, "the patch makes the object one of another kind", 500},
	} {
		patch = c.patch
		refused(t, s, configMap("x", nil), c.code, c.want)
		patch = ""
		must(t, s, configMap("x", nil))
		patch = c.patch
		refused(t, s, &Request{Verb: Update, Kind: configMapKind, Namespace: "default", Name: "x",
			Object: configMap("x", map[string]string{"a": "b"}).Object}, c.code, c.want)
		patch = ""
		must(t, s, &Request{Verb: Delete, Kind: configMapKind, Namespace: "default", Name: "x"})
	}
	patch = `[{"op":"remove","path":"/metadata/namespace"},{"op":"remove","path":"/kind"}]`
	if m := must(t, s, configMap("x", nil)).Object.(*corev1.ConfigMap); m.Namespace != "default" {
		t.Errorf("made %v", m)
	}
}

// If a webhook changes a patch of metadata, the whole object is validated and stored.
func TestMutatingWebhooksOfMetadata(t *testing.T) {
	patch := ""
	s := New(Options{Webhooks: answers{"m.example.com": func(r *asked) *answer { return allow(patch)(r) }}})
	must(t, s, configMap("x", map[string]string{"a": "b"}))
	configure(t, s, mutatingHooks, "m", "")
	same := &Request{Verb: Patch, Kind: configMapKind, Namespace: "default", Name: "x",
		PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"labels":{"a":"b"}}}`)}
	patch = `[{"op":"add","path":"/data","value":{"no key":"v"}}]`
	refused(t, s, same, 422, `data[no key]: Invalid value`)
	patch = `[{"op":"add","path":"/data","value":{"key":"v"}}]`
	must(t, s, same)
	if m := s.Lookup(configMapKind, "default", "x").(*corev1.ConfigMap); m.Data["key"] != "v" {
		t.Errorf("stored is %v", m.Data)
	}
}

// A webhook may deny a request, or its call may fail. The failure policy applies only to failed calls.
func TestWebhookAnswers(t *testing.T) {
	kind := admissionv1.PatchTypeJSONPatch
	for _, c := range []struct {
		what     string
		by       func(*asked) *answer
		code     int32 // 0: the request succeeds
		ignored  bool  // the call fails, so that the failure policy applies
		want     string
		mutating bool
	}{
		{"nothing said", deny(nil), 400, false, `admission webhook "h.example.com" denied the request without explanation`,
			false},
		{"a reason", deny(&metav1.Status{Reason: "Forbidden"}), 400, false, `denied the request: Forbidden`, false},
		{"a success code", deny(&metav1.Status{Code: 200, Message: "m"}), 400, false, `denied the request: m`, false},
		{"a code", deny(&metav1.Status{Code: 422, Message: "m"}), 422, false, `denied the request: m`, true},
		{"nothing", func(*asked) *answer { return nil }, 500, true,
			`Internal error occurred: failed calling webhook "h.example.com": received invalid webhook response: webhook ` +
				`response was absent`, false},
		{"another uid", func(*asked) *answer {
			return &answer{UID: "x"}
		}, 500, true, `expected response.uid=`, false},
		{"nobody", nil, 500, true, `failed to call webhook: nobody answers it here`, true},
		{"a patch of a validating one", allow(`[]`), 500, true, `validating webhook may not return response.patch`,
			false},
		{"a patch without a type", func(*asked) *answer {
			return &answer{Allowed: true, Patch: []byte("[]")}
		}, 500, true, `webhook returned response.patch but not response.patchType`, true},
		{"a type without a patch", func(*asked) *answer {
			return &answer{Allowed: true, PatchType: &kind}
		}, 500, true, `webhook returned response.patchType but not response.patch`, true},
		{"no patch", allow(`{`), 500, true, `received undecodable patch in webhook response: `, true},
		{"a patch that does not fit", allow(`[{"op":"remove","path":"/data/x"}]`), 500, false,
			`Internal error occurred: remove operation does not apply`, true},
		{"an empty patch", allow(`[]`), 0, false, "", true},
	} {
		for _, policy := range []string{"Fail", "Ignore"} {
			t.Run(c.what+"/"+policy, func(t *testing.T) {
				opts := Options{}
				if c.by != nil {
					opts.Webhooks = answers{"h.example.com": c.by}
				}
				s, at := New(opts), validatingHooks
				if c.mutating {
					at = mutatingHooks
				}
				configure(t, s, at, "h", `,"failurePolicy":"`+policy+`"`)
				if c.code == 0 || c.ignored && policy == "Ignore" {
					must(t, s, configMap("x", nil))
					return
				}
				refused(t, s, configMap("x", nil), c.code, c.want)
			})
		}
	}
}

func TestWebhookMatches(t *testing.T) {
	pods := `,"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]`
	for _, c := range []struct {
		what, more string
		asked      bool
	}{
		{"its rule", "", true},
		{"another resource", pods, false},
		{"another operation", `,"rules":[{"operations":["UPDATE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`,
			false},
		{"everything", `,"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]`, true},
		{"what is cluster-wide", `,"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],` +
			`"scope":"Cluster"}]`, false},
		{"its namespace", `,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"default"}}`, true},
		{"another namespace", `,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}}`, false},
		{"its object", `,"objectSelector":{"matchLabels":{"app":"x"}}`, true},
		{"another object", `,"objectSelector":{"matchLabels":{"app":"y"}}`, false},
		{"a condition that holds", `,"matchConditions":[{"name":"c","expression":"object.metadata.name == 'x' && ` +
			`request.operation == 'CREATE' && authorizer.group('').resource('pods').check('get').allowed()"}]`, true},
		{"a condition that does not", `,"matchConditions":[{"name":"e","expression":"object.nothing.here == 1"},` +
			`{"name":"c","expression":"request.userInfo.username == 'nobody'"}]`, false},
		{"a condition that fails, ignored", `,"failurePolicy":"Ignore","matchConditions":[{"name":"e",` +
			`"expression":"object.nothing.here == 1"}]`, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			was := false
			s := New(Options{Webhooks: answers{"h.example.com": func(r *asked) *answer {
				was = true
				return allow("")(r)
			}}})
			configure(t, s, validatingHooks, "h", c.more)
			must(t, s, configMap("x", map[string]string{"app": "x"}))
			if was != c.asked {
				t.Errorf("asked: %v", was)
			}
		})
	}
	s := New(Options{Webhooks: answers{"h.example.com": allow("")}})
	configure(t, s, validatingHooks, "h", `,"matchConditions":[{"name":"e","expression":"object.nothing.here > 1"}]`)
	refused(t, s, configMap("x", nil), 403, `configmaps "x" is forbidden: expression 'object.nothing.here > 1' resulted in `+
		`error: no such key: nothing`)
}

// Webhooks receive a scale as a Scale, and an eviction as an Eviction.
func TestWebhooksOfSubresources(t *testing.T) {
	var seen []string
	s := New(Options{Webhooks: answers{"h.example.com": func(r *asked) *answer {
		seen = append(seen, fmt.Sprintf("%s %s.%s %s/%s", r.Operation, r.Kind.Kind, r.Kind.Group, r.Resource.Resource,
			r.SubResource))
		return allow(`[{"op":"replace","path":"/spec/replicas","value":5}]`)(r)
	}}})
	k := s.KindNamed("deployments")
	made[runtime.Object](t, s, k, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":`+
		`{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	configure(t, s, mutatingHooks, "h", `,"rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1"],`+
		`"resources":["deployments/scale"]}]`)
	must(t, s, &Request{Verb: Patch, Kind: k, Subresource: "scale", Namespace: "default", Name: "d",
		PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"replicas":3}}`)})
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.Lookup(k, "default", "d"))
	if err != nil || u["spec"].(map[string]any)["replicas"] != int64(5) {
		t.Errorf("spec %v, %v", u["spec"], err)
	}
	if !slices.Equal(seen, []string{"UPDATE Scale.autoscaling deployments/scale"}) {
		t.Errorf("asked %q", seen)
	}
}

// A webhook receives objects in the version of its rules, unless its match policy is Exact. Changes are converted back.
func TestWebhooksSeeTheirVersion(t *testing.T) {
	var seen []any
	s, v1, v2 := gaugeServer(t, levels)
	s.opts.Webhooks = answers{"h.example.com": func(r *asked) *answer {
		seen = append(seen, strings.Contains(string(r.Object.Raw), `"level":"7cm"`), r.RequestKind.Version)
		return allow(`[{"op":"replace","path":"/spec/level","value":"8cm"}]`)(r)
	}}
	rule := `,"rules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v2"],"resources":["gauges"]}]`
	configure(t, s, mutatingHooks, "h", rule)
	must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "a", int64(7))})
	if got := level(t, s.Lookup(v1, "default", "a")); got != int64(8) || !equality.Semantic.DeepEqual(seen,
		[]any{true, "v1"}) {
		t.Errorf("stored %v after %v", got, seen)
	}
	must(t, s, &Request{Verb: Delete, Kind: mutatingHooks, Name: "c-h"})
	configure(t, s, mutatingHooks, "h", rule+`,"matchPolicy":"Exact"`)
	must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "b", int64(7))})
	must(t, s, &Request{Verb: Create, Kind: v2, Namespace: "default", Object: gauge(v2, "c", "7cm")})
	if b, c := level(t, s.Lookup(v1, "default", "b")), level(t, s.Lookup(v1, "default", "c")); b != int64(7) ||
		c != int64(8) {
		t.Errorf("stored %v and %v", b, c)
	}
}

const everything = `,"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`

// No webhook reviews webhook configurations, because it could prevent its own removal.
func TestWebhooksDoNotReviewThemselves(t *testing.T) {
	s := New(Options{Webhooks: answers{"h.example.com": deny(nil)}})
	configure(t, s, validatingHooks, "h", everything)
	must(t, s, &Request{Verb: Delete, Kind: validatingHooks, Name: "c-h"})
}

// Webhooks are called once for each deletion, even for a deletion of a terminating object.
func TestWebhooksReviewDeletionsOnce(t *testing.T) {
	n, d := 0, widgetDefinition(t)
	s := New(Options{Webhooks: answers{"h.example.com": func(r *asked) *answer { n++; return allow("")(r) }}})
	d.Finalizers = []string{"x/f"}
	must(t, s, &Request{Verb: Create, Kind: definitionKind, Object: d})
	configure(t, s, validatingHooks, "h", everything)
	for want := range 2 {
		if must(t, s, &Request{Verb: Delete, Kind: definitionKind, Name: d.Name}); n != want+1 {
			t.Errorf("%d reviews of %d deletions", n, want+1)
		}
	}
}
