package fakeapi

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
)

const widgetSchema = `
  type: object
  properties:
    spec:
      type: object
      x-kubernetes-validations: [{rule: "!has(self.max) || self.replicas <= self.max", message: too many}]
      properties:
        replicas: {type: integer, default: 1, minimum: 0}
        max: {type: integer}
        color: {type: string, enum: [red, blue]}
        fixed: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: fixed is immutable}]}
        ports:
          type: array
          x-kubernetes-list-type: map
          x-kubernetes-list-map-keys: [name]
          items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
    status:
      type: object
      properties: {replicas: {type: integer}, selector: {type: string}}
`

// widgetDefinition returns a CRD with versions v1, which is stored, and v2.
func widgetDefinition(t testing.TB) *crd.Definition {
	t.Helper()
	d := &crd.Definition{}
	text := `{metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced,
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd]}}}`
	parse(t, text, d)
	props := &apiextensionsv1.JSONSchemaProps{}
	parse(t, widgetSchema, props)
	selector := ".status.selector"
	for _, name := range []string{"v1", "v2"} {
		p := props.DeepCopy()
		if name == "v2" {
			delete(p.Properties["spec"].Properties, "color")
		}
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: name == "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: p},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas",
					StatusReplicasPath: ".status.replicas", LabelSelectorPath: &selector},
			},
		})
	}
	return d
}

func widgetKind(s *Server, version string) *Kind {
	return s.Kind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"})
}

func crdServer(t testing.TB, opts Options) *Server {
	t.Helper()
	s := New(opts)
	must(t, s, &Request{Verb: Create, Kind: definitionKind, Object: widgetDefinition(t)})
	return s
}

func must(t testing.TB, s *Server, req *Request) Response {
	t.Helper()
	r, _ := s.Do(epoch, req)
	if r.Err != nil {
		t.Fatalf("%s %s: %v", req.Verb, req.Name, r.Err)
	}
	return r
}

func refused(t testing.TB, s *Server, req *Request, code int32, text string) {
	t.Helper()
	before := s.Version()
	r, events := s.Do(epoch, req)
	if r.Err == nil || r.Err.ErrStatus.Code != code || !strings.Contains(r.Err.Error(), text) {
		t.Fatalf("%s %s: got %v, want %d %q", req.Verb, req.Name, r.Err, code, text)
	}
	if len(events) > 0 || s.Version() != before {
		t.Fatalf("a refused %s made a change", req.Verb)
	}
}

func parsed(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

func widget(t testing.TB, version, name, spec string) *Request {
	return &Request{Verb: Create, Namespace: "default",
		Object: parsed(t, "{apiVersion: example.com/"+version+", kind: Widget, metadata: {name: "+name+"}, spec: "+spec+
			"}")}
}

func (r *Request) of(k *Kind) *Request { r.Kind = k; return r }

func at(obj runtime.Object, path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(obj.(*unstructured.Unstructured).Object,
		strings.Split(strings.TrimPrefix(path, "."), ".")...)
	return value
}

func TestCustomObjectIsPrunedDefaultedAndValidated(t *testing.T) {
	s := crdServer(t, Options{})
	k := widgetKind(s, "v1")
	obj := must(t, s, widget(t, "v1", "a", "{color: red, unknown: 1}").of(k)).Object
	if at(obj, ".spec.replicas") != int64(1) || at(obj, ".spec.unknown") != nil ||
		at(obj, ".metadata.generation") != int64(1) {
		t.Fatalf("%v", obj)
	}
	refused(t, s, widget(t, "v1", "b", "{color: green}").of(k), 422,
		`spec.color: Unsupported value: "green": supported values: "red", "blue"`)
	refused(t, s, widget(t, "v1", "b", "{replicas: -1}").of(k), 422,
		"spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0")
	refused(t, s, widget(t, "v1", "b", "{replicas: x}").of(k), 422,
		`spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"`)
	refused(t, s, widget(t, "v1", "b", "{replicas: 3, max: 2}").of(k), 422, "spec: Invalid value: too many")
	refused(t, s, widget(t, "v1", "b", "{ports: [{name: x}, {name: x}]}").of(k), 422, "spec.ports[1]: Duplicate value")
	refused(t, s, widget(t, "v1", "B_", "{}").of(k), 422, "metadata.name: Invalid value")
}

func TestRatchet(t *testing.T) {
	s := crdServer(t, Options{})
	k := widgetKind(s, "v1")
	must(t, s, widget(t, "v1", "a", "{color: red, max: 7}").of(k))
	d := s.Lookup(definitionKind, "", "widgets.example.com").(*crd.Definition).DeepCopy()
	for i := range d.Spec.Versions {
		spec := d.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
		seven, top := spec.Properties["max"], 5.0
		seven.Maximum = &top
		spec.Properties["max"] = seven
	}
	must(t, s, &Request{Verb: Update, Kind: definitionKind, Name: d.Name, Object: d})
	patch := func(text string) *Request {
		return &Request{Verb: Patch, Kind: k, Namespace: "default", Name: "a", PatchType: types.MergePatchType,
			Patch: []byte(text)}
	}
	must(t, s, patch(`{"spec":{"color":"blue"}}`))
	refused(t, s, patch(`{"spec":{"max":8}}`), 422,
		"spec.max: Invalid value: 8: spec.max in body should be less than or equal to 5")
}

func TestDefinitionIsChecked(t *testing.T) {
	s := New(Options{})
	for _, c := range []struct {
		change func(*crd.Definition, *apiextensionsv1.JSONSchemaProps)
		text   string
	}{
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{}
		}, "properties[x].type: Required value: must not be empty for specified object fields"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "integer",
				Default: &apiextensionsv1.JSON{Raw: []byte(`"a"`)}}
		}, `properties[x].default: Invalid value: "string":  in body must be of type integer: "string"`},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "string",
				XValidations: apiextensionsv1.ValidationRules{{Rule: "self.format('x')"}}}
		}, "compilation failed: ERROR: <input>:1:12: found no matching overload for 'format' applied to " +
			"'string.(string)'"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "array",
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string",
					XValidations: apiextensionsv1.ValidationRules{{Rule: "self.matches('a.*b')"}}}}}
		}, "properties[x].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by " +
			"factor of more than 100x"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "array",
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string",
					XValidations: apiextensionsv1.ValidationRules{{Rule: "self == oldSelf"}}}}}
		}, "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
			"spec.versions[0].schema.openAPIV3Schema.properties[x]"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			yes := true
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "string",
				XValidations: apiextensionsv1.ValidationRules{{Rule: "self == 'a'", OptionalOldSelf: &yes,
					MessageExpression: "1"}}}
		}, "[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "object",
				XValidations: apiextensionsv1.ValidationRules{{Rule: "true", FieldPath: ".y"}}}
		}, `[0].fieldPath: Invalid value: ".y": must be a valid path`},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			p.Properties["x"] = apiextensionsv1.JSONSchemaProps{Type: "string",
				XValidations: apiextensionsv1.ValidationRules{{Rule: strings.Repeat("(", 300) + "true"}}}
		}, "expression recursion limit exceeded: 250"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
		}, "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook"},
		{func(d *crd.Definition, p *apiextensionsv1.JSONSchemaProps) {
			d.Spec.Group = "example"
		}, "should be a domain with at least one dot"},
	} {
		d := widgetDefinition(t)
		c.change(d, d.Spec.Versions[0].Schema.OpenAPIV3Schema)
		refused(t, s, &Request{Verb: Create, Kind: definitionKind, Object: d}, 422, c.text)
	}
}

func TestDefinitionNeedsItsNames(t *testing.T) {
	s := crdServer(t, Options{})
	rival := widgetDefinition(t)
	rival.Name, rival.Spec.Names.Plural, rival.Spec.Names.Singular, rival.Spec.Names.ShortNames = "wodgets.example.com",
		"wodgets", "wodget", nil
	must(t, s, &Request{Verb: Create, Kind: definitionKind, Object: rival})
	conditions := func() string {
		var all []string
		for _, c := range s.Lookup(definitionKind, "", "wodgets.example.com").(*crd.Definition).Status.Conditions {
			all = append(all, string(c.Type)+"="+string(c.Status)+" "+c.Reason)
		}
		return strings.Join(all, ", ")
	}
	if got := conditions(); got != "NamesAccepted=False ListKindConflict, Established=False NotAccepted" {
		t.Fatal(got)
	}
	if s.KindNamed("wodgets") != nil {
		t.Fatal("a CRD without accepted names is served")
	}
	must(t, s, &Request{Verb: Delete, Kind: definitionKind, Name: "widgets.example.com"})
	if got := conditions(); got != "NamesAccepted=True NoConflicts, Established=True InitialNamesAccepted" {
		t.Fatal(got)
	}
	if k := s.KindNamed("wodgets"); k == nil || k.GVK.Kind != "Widget" {
		t.Fatal("released names are not accepted for the other CRD")
	}
}
