package fakeapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
)

// portalYAML is a CRD similar to Gateway, with CEL rules for lists, items and the whole object.
const portalYAML = `
metadata: {name: portals.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: portals, singular: portal, kind: Portal, listKind: PortalList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - rule: oldSelf.class == self.class
              reason: FieldValueForbidden
              fieldPath: .class
              message: the class stays
            properties:
              class: {type: string, maxLength: 20}
              addresses:
                type: object
                maxProperties: 8
                additionalProperties:
                  type: string
                  maxLength: 40
                  x-kubernetes-validations:
                  - {rule: isIP(self), messageExpression: "'no address: ' + self"}
              doors:
                type: array
                maxItems: 16
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                x-kubernetes-validations:
                - rule: "self.all(l, l.protocol in ['HTTP', 'TCP'] ? !has(l.tls) : true)"
                  message: tls must not be specified for protocols ['HTTP', 'TCP']
                - rule: "self.all(a, self.exists_one(b, a.port == b.port && a.protocol == b.protocol))"
                  message: port and protocol must be unique
                items:
                  type: object
                  required: [name, port, protocol]
                  x-kubernetes-validations:
                  - rule: "!oldSelf.hasValue() || oldSelf.value().port <= self.port"
                    optionalOldSelf: true
                    message: ports only grow
                  properties:
                    name: {type: string, maxLength: 20}
                    port: {type: integer, minimum: 1, maximum: 65535}
                    protocol: {type: string, maxLength: 20}
                    tls: {type: object, properties: {mode: {type: string, maxLength: 20}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func portals(t testing.TB, change func(*apiextensionsv1.JSONSchemaProps)) (*Server, *Kind) {
	t.Helper()
	d := &crd.Definition{}
	parse(t, portalYAML, d)
	if change != nil {
		spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		change(&spec)
		d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	}
	s := New(Options{})
	if r, _ := s.Do(time.Unix(0, 0), &Request{Verb: Create, Kind: definitionKind, Object: d}); r.Err != nil {
		t.Fatal(r.Err)
	}
	return s, s.KindNamed("portal")
}

func portal(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := "{apiVersion: example.com/v1, kind: Portal, metadata: {name: p}, spec: " + spec + "}"
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func write(s *Server, k *Kind, verb Verb, u *unstructured.Unstructured) (refusal string, warnings []string) {
	if verb == Update {
		old := s.Lookup(k, "default", "p").(metav1.Object)
		u.SetResourceVersion(old.GetResourceVersion())
	}
	r, _ := s.Do(time.Unix(0, 0), &Request{Verb: verb, Kind: k, Namespace: "default", Name: "p", Object: u})
	if r.Err != nil {
		refusal = r.Err.Error()
	}
	return refusal, r.Warnings
}

const (
	httpDoor  = "{name: a, port: 80, protocol: HTTP}"
	invalidly = `Portal.example.com "p" is invalid: `
)

// The errors of CEL rules have the real server's texts, in a fixed order.
func TestRulesOfNewObjects(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"{class: c, doors: [" + httpDoor + "]}", ""},
		{"{doors: [{name: a, port: 80, protocol: HTTP, tls: {}}]}",
			"spec.doors: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP']"},
		{"{doors: [" + httpDoor + ", {name: b, port: 80, protocol: HTTP, tls: {}}]}",
			"[spec.doors: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP'], " +
				"spec.doors: Invalid value: port and protocol must be unique]"},
		{"{addresses: {c: x, a: u, b: 10.0.0.1, d: z}}",
			`[spec.addresses[a]: Invalid value: "u": no address: u, spec.addresses[c]: Invalid value: "x": ` +
				`no address: x, spec.addresses[d]: Invalid value: "z": no address: z]`},
		{"{class: aaaaaaaaaaaaaaaaaaaaaaaaa, addresses: {a: u}}",
			"[spec.class: Too long: may not be more than 20 bytes, <nil>: Invalid value: null: some validation rules " +
				"were not checked because the object was invalid; correct the existing errors to complete validation]"},
	} {
		for range 5 { // Go ranges over a map in a different order each time
			s, k := portals(t, nil)
			got, _ := write(s, k, Create, portal(t, c.spec))
			if strings.TrimPrefix(got, invalidly) != c.want {
				t.Errorf("%s: errors\n%s\nwant\n%s", c.spec, got, c.want)
			}
		}
	}
}

// An update may keep a value that violates a new CEL rule. The response then has a warning.
func TestRulesOfWhatWasThere(t *testing.T) {
	lax := func(spec *apiextensionsv1.JSONSchemaProps) {
		doors := spec.Properties["doors"]
		doors.XValidations = nil
		spec.Properties["doors"] = doors
	}
	s, k := portals(t, lax)
	const was = "{class: c, doors: [{name: a, port: 80, protocol: HTTP, tls: {}}]}"
	if got, _ := write(s, k, Create, portal(t, was)); got != "" {
		t.Fatal(got)
	}
	strict := &crd.Definition{}
	parse(t, portalYAML, strict)
	strict.ResourceVersion = s.Lookup(definitionKind, "", strict.Name).(metav1.Object).GetResourceVersion()
	if r, _ := s.Do(time.Unix(0, 0), &Request{Verb: Update, Kind: definitionKind, Name: strict.Name,
		Object: strict}); r.Err != nil {
		t.Fatal(r.Err)
	}
	k = s.KindNamed("portal")
	more := strings.Replace(was, "class: c", "class: c, addresses: {a: 10.0.0.1}", 1)
	refusal, warnings := write(s, k, Update, portal(t, more))
	const want = `["spec.doors: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP']"]`
	if refusal != "" || fmt.Sprintf("%q", warnings) != want {
		t.Errorf("an unchanged part has the error %q, with warnings %q", refusal, warnings)
	}
	changed := strings.Replace(more, "port: 80", "port: 81", 1)
	if refusal, _ = write(s, k, Update, portal(t, changed)); !strings.Contains(refusal, "tls must not be specified") {
		t.Errorf("a changed part has the error %q", refusal)
	}
}

// If the CEL rules cost too much for an object, the error always names the same field.
func TestRulesCostTooMuch(t *testing.T) {
	dear := func(spec *apiextensionsv1.JSONSchemaProps) {
		addresses := spec.Properties["addresses"]
		value := addresses.AdditionalProperties.Schema
		most, many := int64(8000), int64(100)
		value.MaxLength, addresses.MaxProperties = &most, &many
		value.XValidations = nil
		for i := range 20 {
			value.XValidations = append(value.XValidations, apiextensionsv1.ValidationRule{
				Rule: fmt.Sprintf("self.contains('%s%d') || true", strings.Repeat("b", 100), i)})
		}
		spec.Properties["addresses"] = addresses
	}
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprintf("k%02d: %s", i, strings.Repeat("a", 8000)))
	}
	spec := "{addresses: {" + strings.Join(values, ", ") + "}}"
	told := map[string]bool{}
	for range 3 {
		s, k := portals(t, dear)
		got, _ := write(s, k, Create, portal(t, spec))
		told[got] = true
		if !strings.Contains(got, "no further validation rules will be run") {
			t.Fatalf("got %.300q", got)
		}
	}
	if len(told) != 1 {
		t.Errorf("three servers return %d different errors", len(told))
	}
}
