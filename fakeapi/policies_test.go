package fakeapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// bindPolicy creates a policy for ConfigMaps and a binding.
func bindPolicy(t testing.TB, s *Server, spec, binding string) {
	t.Helper()
	made[runtime.Object](t, s, policyKind, fmt.Sprintf(`{"metadata":{"name":"p"},"spec":{"matchConstraints":{
		"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},%s}}`, spec))
	made[runtime.Object](t, s, policyBindings,
		fmt.Sprintf(`{"metadata":{"name":"b"},"spec":{"policyName":"p",%s}}`, binding))
}

// Denials by a policy have the real server's texts.
func TestValidatingAdmissionPolicies(t *testing.T) {
	const deny = `"validationActions":["Deny"]`
	const head = `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
	for _, c := range []struct {
		what, spec, binding string
		code                int32 // 0: the request succeeds
		want                string
	}{
		{"holds", `"validations":[{"expression":"object.metadata.name == 'x'"}]`, deny, 0, ""},
		{"fails", `"validations":[{"expression":"object.metadata.name == 'y'"}]`, deny, 422,
			head + "failed expression: object.metadata.name == 'y'"},
		{"message", `"validations":[{"expression":"false","message":"no"}]`, deny, 422, head + "no"},
		{"message of an expression", `"validations":[{"expression":"false","message":"no",` +
			`"messageExpression":"'not ' + object.metadata.name","reason":"Forbidden"}]`, deny, 403, head + "not x"},
		{"variables", `"variables":[{"name":"n","expression":"object.metadata.name"},{"name":"m",` +
			`"expression":"variables.n + '!'"}],"validations":[{"expression":"variables.m == 'x'",` +
			`"messageExpression":"variables.m"}]`, deny, 422, head + "x!"},
		{"namespace", `"validations":[{"expression":"namespaceObject.metadata.name != 'default'"}]`, deny, 422,
			head + "failed expression: namespaceObject.metadata.name != 'default'"},
		{"condition", `"matchConditions":[{"name":"c","expression":"request.operation != 'CREATE'"}],` +
			`"validations":[{"expression":"false"}]`, deny, 0, ""},
		{"error", `"validations":[{"expression":"object.nothing == 1"}]`, deny, 422,
			head + "expression 'object.nothing == 1' resulted in error: no such key: nothing"},
		{"error, ignored", `"failurePolicy":"Ignore","validations":[{"expression":"object.nothing == 1"}]`, deny, 0, ""},
		{"excluded", `"validations":[{"expression":"false"}]`, deny + `,"matchResources":{"excludeResourceRules":[` +
			`{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["x"]}]}`, 0, ""},
		{"no parameter", `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"true"}]`,
			deny + `,"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}`, 422,
			head + "failed to configure binding: no params found for policy binding with `Deny` " +
				"parameterNotFoundAction"},
		{"parameter", `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":` +
			`"object.metadata.name == params.data.name","messageExpression":"'want ' + params.data.name"}]`,
			deny + `,"paramRef":{"selector":{"matchLabels":{"is":"params"}},"parameterNotFoundAction":"Deny"}`, 422,
			head + "want y"},
		{"audited only", `"validations":[{"expression":"false"}]`, `"validationActions":["Audit"]`, 0, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := New(Options{})
			made[*corev1.ConfigMap](t, s, configMapKind,
				`{"metadata":{"name":"params","labels":{"is":"params"}},"data":{"name":"y"}}`)
			bindPolicy(t, s, c.spec, c.binding)
			if c.code == 0 {
				must(t, s, configMap("x", nil))
				return
			}
			refused(t, s, configMap("x", nil), c.code, c.want)
		})
	}
}

// The denial of a deletion of many objects names none of them.
func TestDenialOfDeleteCollection(t *testing.T) {
	s := New(Options{})
	must(t, s, configMap("x", nil))
	bindPolicy(t, s, `"validations":[{"expression":"request.operation != 'DELETE'"}]`, `"validationActions":["Deny"]`)
	refused(t, s, &Request{Verb: DeleteCollection, Kind: configMapKind, Namespace: "default"}, 422,
		`configmaps "Unknown" is forbidden: ValidatingAdmissionPolicy 'p'`)
}

// A policy with an invalid expression is refused.
func TestExpressionsAreCompiled(t *testing.T) {
	s := New(Options{})
	const params = `"matchConditions":[{"name":"c","expression":"params.x"}],"validations":[{"expression":"true"}]`
	const variable = `"variables":[{"name":"n","expression":"1"}],"validations":[{"expression":"variables.m == 1"}]`
	const message = `"validations":[{"expression":"true","messageExpression":"authorizer"}]`
	for _, c := range [][2]string{
		{`"validations":[{"expression":"nothing"}]`, "spec.validations[0].expression: Invalid value: \"nothing\": " +
			"compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing'"},
		{`"validations":[{"expression":"1"}]`, "must evaluate to bool but got int"},
		{params, "undeclared reference to 'params'"},
		{variable, "undefined field 'm'"},
		{message, "undeclared reference to 'authorizer'"},
	} {
		p := policyKind.New()
		parse(t, fmt.Sprintf(`{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{
			"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},%s}}`, c[0]), p)
		refused(t, s, &Request{Verb: Create, Kind: policyKind, Object: p}, 422, c[1])
	}
}

func TestPoliciesThatWarn(t *testing.T) {
	s := New(Options{})
	bindPolicy(t, s, `"validations":[{"expression":"request.operation == 'CREATE'","message":"only once"}]`,
		`"validationActions":["Warn"]`)
	must(t, s, configMap("x", nil))
	r := must(t, s, &Request{Verb: Patch, Kind: configMapKind, Namespace: "default", Name: "x",
		PatchType: types.MergePatchType, Patch: []byte(`{"data":{"a":"b"}}`)})
	const want = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': only once"
	if !slices.Equal(r.Warnings, []string{want}) {
		t.Errorf("warnings %q", r.Warnings)
	}
	r = must(t, s, &Request{Verb: Delete, Kind: configMapKind, Namespace: "default", Name: "x"})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "only once") {
		t.Errorf("a delete has the warnings %q", r.Warnings)
	}
	must(t, s, &Request{Verb: Delete, Kind: policyBindings, Name: "b"})
	if r := must(t, s, configMap("x", nil)); len(r.Warnings) > 0 {
		t.Errorf("without a binding there are warnings %q", r.Warnings)
	}
}
