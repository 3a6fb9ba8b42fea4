package fakeapi

import (
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// A request that violates several rules gets the error of the first stage that refuses it, and later stages change
// nothing. A validating webhook denies all objects with the label deny.
func TestOrderOfStages(t *testing.T) {
	s, v1, v2 := gaugeServer(t, func(u *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
		if to.Version == "v1" {
			return nil, errors.New("out of order")
		}
		return levels(u, to)
	})
	s.opts.Webhooks = answers{"h.example.com": deny(nil)}
	must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "old", int64(1))})
	const ports = `spec: {type: NodePort, ports: [{port: 80, nodePort: 30000}]}}`
	service := made[*corev1.Service](t, s, serviceKind, `{metadata: {name: old}, spec: {ports: [{port: 80}]}}`)
	made[runtime.Object](t, s, serviceKind, `{metadata: {name: taken}, `+ports)
	made[runtime.Object](t, s, serviceKind, `{metadata: {name: fixed}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}`)
	made[runtime.Object](t, s, podKind, `{metadata: {name: old, labels: {deny: ""}},
		spec: {nodeName: n, containers: [{name: c, image: i}]}}`)
	must(t, s, &Request{Verb: Delete, Kind: podKind, Namespace: "default", Name: "old"})
	made[runtime.Object](t, s, namespaceKind, `{metadata: {name: old, labels: {deny: ""}}}`)
	must(t, s, &Request{Verb: Delete, Kind: namespaceKind, Name: "old"})
	must(t, s, &Request{Verb: Patch, Kind: namespaceKind, Name: "default", PatchType: types.MergePatchType,
		Patch: []byte(`{"metadata":{"labels":{"deny":""}}}`)})
	limited(t, s, "q", map[corev1.ResourceName]string{"count/gauges.example.com": "2", "services": "0",
		"services.nodeports": "0", "pods": "1"})
	configure(t, s, validatingHooks, "h", everything+`,"objectSelector":{"matchLabels":{"deny":""}}`)
	write := func(k *Kind, name, text string) *Request {
		obj := k.New()
		parse(t, strings.Replace(text, "NAME", name, 1), obj)
		return &Request{Verb: Create, Kind: k, Namespace: "default", Name: name, Object: obj}
	}
	remove := func(k *Kind, namespace, name string, o metav1.DeleteOptions) *Request {
		return &Request{Verb: Delete, Kind: k, Namespace: namespace, Name: name, Delete: o}
	}
	moved := service.DeepCopy()
	moved.Spec.ClusterIP, moved.Spec.ClusterIPs = "1.2.3.4", []string{"1.2.3.4"}
	exposed := service.DeepCopy()
	exposed.Labels, exposed.Spec.Type = map[string]string{"deny": ""}, corev1.ServiceTypeNodePort
	const denied, failed = `admission webhook "h.example.com" denied the request without explanation`,
		"conversion webhook for example.com/v2, Kind=Gauge failed: out of order"
	const head = "{apiVersion: example.com/v2, kind: Gauge, metadata: {name: NAME"
	for _, c := range []struct {
		what, want string
		req        *Request
		writes     uint64
	}{
		{"charge, then store", `pods "old" already exists`, write(podKind, "old",
			`{metadata: {name: NAME}, spec: {containers: [{name: c, image: i}]}}`), 1},
		{"permit, then charge", denied, write(podKind, "x",
			`{metadata: {name: NAME, labels: {deny: ""}}, spec: {containers: [{name: c, image: i}]}}`), 0},
		{"charge, then convert, then store", failed, write(v2, "old", head+"}}"), 1},
		{"refuse a revision, then convert", "resourceVersion should not be set on objects to be created",
			write(v2, "x", head+`, resourceVersion: "1"}}`), 1},
		{"charge, then convert", `gauges.example.com "x" is forbidden: exceeded quota: q, requested: ` +
			`count/gauges.example.com=1, used: count/gauges.example.com=2, limited: count/gauges.example.com=2`,
			write(v2, "x", head+"}}"), 0},
		{"allocate, then validate and permit and charge", `Service "x" is invalid: spec.ports[0].nodePort: ` +
			`Invalid value: 30000: provided port is already allocated`, write(serviceKind, "x",
			`{metadata: {name: NAME, labels: {deny: "", "?": ""}}, `+ports), 0},
		{"allocate a port, then store", "Invalid value: 30000: provided port is already allocated", write(serviceKind,
			"taken", `{metadata: {name: NAME}, `+ports), 0},
		{"allocate an address, then store", `spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP ` +
			"10.96.0.9: provided IP is already allocated", write(serviceKind, "fixed",
			`{metadata: {name: NAME}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}`), 0},
		{"allocate nothing for another type", "spec.ports[0].nodePort: Forbidden: may not be used when `type` is " +
			"'ClusterIP'", write(serviceKind, "x",
			`{metadata: {name: NAME}, spec: {ports: [{port: 80, nodePort: 30000}]}}`), 0},
		{"allocate no second address", "may not change once set", &Request{Verb: Update, Kind: serviceKind,
			Namespace: "default", Name: "old", Object: moved}, 0},
		{"update: permit, then charge", denied, &Request{Verb: Update, Kind: serviceKind, Namespace: "default",
			Name: "old", Object: exposed}, 0},
		{"update: convert, then store", failed, &Request{Verb: Patch, Kind: v2, Namespace: "default", Name: "old",
			PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"level":"` + strings.Repeat("1", maxObject) + `"}}`)}, 0},
		{"delete: match, then admit", `Operation cannot be fulfilled on namespaces "default": Precondition failed: UID in ` +
			`precondition: x, UID in object meta: `, remove(namespaceKind, "", "default",
			metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("x")}), 0},
		{"delete: admit, then review", `namespaces "default" is forbidden: this namespace may not be deleted`,
			remove(namespaceKind, "", "default", metav1.DeleteOptions{}), 0},
		{"delete a terminating object without a review", "", remove(podKind, "default", "old", metav1.DeleteOptions{}), 0},
		{"delete a terminating namespace", "", remove(namespaceKind, "", "old", metav1.DeleteOptions{}), 0},
		{"delete a terminating object sooner", denied, remove(podKind, "default", "old", *metav1.NewDeleteOptions(1)), 0},
	} {
		got, before := "", s.Version()
		if r, _ := s.Do(epoch, c.req); r.Err != nil {
			got = r.Err.Error()
		}
		if n := s.Version() - before; (got == "") != (c.want == "") || !strings.Contains(got, c.want) || n != c.writes {
			t.Errorf("%s: got %q after %d writes, want %q after %d", c.what, got, n, c.want, c.writes)
		}
	}
}

// After a webhook call, node ports are checked again. Each attempt of an update is charged to the quotas.
func TestStagesAfterACall(t *testing.T) {
	s, meanwhile := New(Options{}), func() {}
	s.SetCaller(&webhook.Caller{Release: func() {}, Retake: func() {},
		Call: func(_ *webhook.Endpoint, review, response runtime.Object) error {
			f := meanwhile
			meanwhile = func() {}
			f()
			in, out := review.(*admissionv1.AdmissionReview), response.(*admissionv1.AdmissionReview)
			out.TypeMeta, out.Response = in.TypeMeta, &answer{UID: in.Request.UID, Allowed: true}
			return nil
		}})
	configure(t, s, validatingHooks, "h", everything)
	b := &corev1.Service{}
	parse(t, `{metadata: {name: b}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30000}]}}`, b)
	a := b.DeepCopy()
	a.Name = "a"
	meanwhile = func() { must(t, s, &Request{Verb: Create, Kind: serviceKind, Namespace: "default", Object: a}) }
	if r, _ := s.Do(epoch, &Request{Verb: Create, Kind: serviceKind, Namespace: "default", Object: b}); r.Err == nil || !strings.HasSuffix(r.Err.Error(), "port is already allocated") {
		t.Errorf("the second of two Services with one port: %v", r.Err)
	}
	limited(t, s, "q", map[corev1.ResourceName]string{"services.nodeports": "9"})
	patch := func(text string) {
		must(t, s, &Request{Verb: Patch, Kind: serviceKind, Namespace: "default", Name: "a",
			PatchType: types.MergePatchType, Patch: []byte(text)})
	}
	patch(`{"spec":{"type":"ClusterIP"}}`)
	meanwhile = func() { patch(`{"metadata":{"labels":{"a":"b"}}}`) }
	if patch(`{"spec":{"type":"NodePort"}}`); used(s, "q", "services.nodeports") != "2" {
		t.Errorf("%s node ports are charged for two attempts", used(s, "q", "services.nodeports"))
	}
}
