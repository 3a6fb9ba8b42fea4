package fieldmanager

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// openAPIName is what the real server's OpenAPI calls a Go type.
func openAPIName(name string) string {
	return "io.k8s." + strings.ReplaceAll(strings.TrimPrefix(name, "k8s.io/"), "/", ".")
}

// said is what is out of the ordinary in how a list or a map is merged.
func said(ref schema.TypeRef) string {
	switch a := ref.Inlined; {
	case a.List != nil && a.Map == nil && a.List.ElementRelationship == schema.Associative && a.List.Keys != nil:
		return "list by " + strings.Join(a.List.Keys, " ")
	case a.List != nil && a.Map == nil && a.List.ElementRelationship == schema.Associative:
		return "set"
	case a.Map != nil && a.List == nil && a.Map.ElementRelationship == schema.Atomic:
		return "atomic"
	case ref.ElementRelationship != nil && *ref.ElementRelationship == schema.Separable:
		return "granular"
	}
	return ""
}

// How fields are merged is read off Go types here. testdata/merging.txt is what the real server's
// /openapi/v2 says of them (v1.36.3), where it says more than nothing: which structs and
// maps are atomic, and which lists are not.
func TestFieldsAreMergedAsTheRealServerSays(t *testing.T) {
	text, err := os.ReadFile("testdata/merging.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := &mergeSchema{seen: map[reflect.Type]bool{}}
	for _, k := range append(slices.Clone(registry.Builtin), registry.OtherVersions...) {
		if _, custom := k.New().(*unstructured.Unstructured); !custom {
			m.named(reflect.TypeOf(k.New()).Elem())
		}
	}
	known, got := map[string]bool{}, []string{}
	for _, def := range m.types {
		name := openAPIName(def.Name)
		known[name] = true
		if def.Map.ElementRelationship == schema.Atomic {
			got = append(got, name+" atomic")
		}
		for _, f := range def.Map.Fields {
			if how := said(f.Type); how != "" {
				got = append(got, name+"."+f.Name+" "+how)
			}
		}
	}
	var want []string
	for line := range strings.Lines(string(text)) {
		what, _, _ := strings.Cut(line, " ")
		if known[what] || known[what[:strings.LastIndexByte(what, '.')]] {
			want = append(want, strings.TrimSuffix(line, "\n"))
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("the real server alone says: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("only here: %s", line)
		}
	}
}
