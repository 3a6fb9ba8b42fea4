package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/install"
)

func gadget(text string) string {
	return strings.NewReplacer("widget", "gadget", "Widget", "Gadget").Replace(text)
}

func TestCRDs(t *testing.T) {
	beta := "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata:\n  name: olds.example.com\n" +
		"spec: {group: example.com, names: {kind: Old, plural: olds}, versions: [{name: v1}]}\n"
	for _, c := range []struct {
		name, archive string
		opts          install.Options
		want          []string
		notes         []string
	}{
		{"config/crd/bases before copies", program + "-- chart/crds/a.yaml --\n" + crd + "-- config/crd/bases/b.yaml --\n" + crd,
			install.Options{}, []string{"config/crd/bases/b.yaml"}, []string{"1 CRD from config/crd/bases"}},
		{"a folder crds before others", program + "-- a.yaml --\n" + gadget(crd) + "-- deep/er/crds/b.yaml --\n" + crd,
			install.Options{}, []string{"deep/er/crds/b.yaml"}, nil},
		{"any YAML, shallow files first, and no patches", program + "-- z.yaml --\n" + crd + "-- deep/a.yaml --\n" + crd +
			"-- b.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: x\n" +
			"spec: {preserveUnknownFields: false}\n-- testdata/t.yaml --\n" + gadget(crd) + "-- vendor/v.yaml --\n" + gadget(crd) +
			"-- .hidden/h.yaml --\n" + gadget(crd) + "-- test/e.yaml --\n" + gadget(crd),
			install.Options{}, []string{"z.yaml"}, []string{"CRDs of the same names are in deep as well: left out"}},
		{"v1beta1", program + "-- crds/a.yaml --\n" + beta + "---\n" + crd, install.Options{}, []string{"crds/a.yaml"},
			[]string{"crds/a.yaml:1: CRD olds.example.com is of apiextensions.k8s.io/v1beta1"}},
		{"those that were named win", program + "-- config/default/kustomization.yaml --\nresources: [all.yaml]\n" +
			"-- config/default/all.yaml --\n" + crd + "---\n" + gadget(crd) + "-- x/y.yaml --\n" + crd,
			install.Options{CRDs: []string{"x"}}, []string{"x/y.yaml", "config/default/all.yaml"}, []string{"1 CRD from x"}},
		{"none", program, install.Options{}, nil, []string{"no CRDs: the operator is taken to work on built-in kinds"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := found(t, c.archive, c.opts)
			var files []string
			for _, o := range r.CRDs {
				files = append(files, o.File)
			}
			if diff := cmp.Diff(c.want, files); diff != "" {
				t.Errorf("files of CRDs: - want, + got\n%s", diff)
			}
			for _, note := range c.notes {
				wantNote(t, r, note)
			}
		})
	}
	_, err := find(t, program, install.Options{CRDs: []string{"crds"}})
	wantError(t, err, "--crds crds: no such file or directory")
	_, err = find(t, program+"-- a.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
		install.Options{CRDs: []string{"a.yaml"}})
	wantError(t, err, "--crds a.yaml: it holds no CustomResourceDefinition")
}

// The other CRDs of a repository are known, but not installed. Each name occurs once.
func TestOtherCRDs(t *testing.T) {
	r := found(t, program+"-- config/crd/bases/widgets.yaml --\n"+crd+"-- config/deps/gadgets.yaml --\n"+crd+"---\n"+gadget(crd)+
		"-- examples/gadgets.yaml --\n"+gadget(crd), install.Options{})
	if diff := cmp.Diff([]string{"CustomResourceDefinition /widgets.example.com config/crd/bases/widgets.yaml"}, shown(r.CRDs)); diff != "" {
		t.Errorf("CRDs: - want, + got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CustomResourceDefinition /gadgets.example.com config/deps/gadgets.yaml"}, shown(r.OtherCRDs)); diff != "" {
		t.Errorf("other CRDs: - want, + got\n%s", diff)
	}
}

func widget(version, name, spec string) string {
	return "apiVersion: example.com/" + version + "\nkind: Widget\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
}

func TestSamples(t *testing.T) {
	base := program + "-- config/crd/bases/widgets.yaml --\n" + crd
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	for _, c := range []struct {
		name, archive string
		want          string // "file:line" of the sample
		beside        int
	}{
		{"config/samples first", "-- config/samples/a.yaml --\n" + widget("v1", "a", "{x: 1}") + secret + "-- examples/b.yaml --\n" +
			widget("v1", "b", "{x: 1}"), "config/samples/a.yaml:1", 1},
		{"alone", "-- examples/a.yaml --\n" + widget("v1", "a", "{x: 1}") + secret + "-- examples/b.yaml --\n# One.\n" +
			widget("v1", "b", "{x: 1}"), "examples/b.yaml:2", 0},
		{"no variant in a folder", "-- config/samples/a.yaml --\n" + widget("v1", "a", "{x: 1}") + secret +
			"-- config/samples/variant/b.yaml --\n" + widget("v1", "b", "{x: 1}"), "config/samples/a.yaml:1", 1},
		{"no variant beside it", "-- config/samples/widget.yaml --\n" + widget("v1", "a", "{x: 1}") + secret +
			"-- config/samples/tls_widget.yaml --\n" + widget("v1", "b", "{x: 1}"), "config/samples/widget.yaml:1", 1},
		{"none for OpenShift", "-- config/samples/openshift/a.yaml --\n" + widget("v1", "a", "{x: 1}") +
			"-- config/samples/plain/a.yaml --\n" + widget("v1", "a", "{x: 1, y: 2}"), "config/samples/plain/a.yaml:1", 0},
		{"config/samples first, even for OpenShift", "-- config/samples/openshift.yaml --\n" + widget("v1", "a", "{x: 1}") + "-- examples/a.yaml --\n" +
			widget("v1", "a", "{x: 1}"), "config/samples/openshift.yaml:1", 0},
		{"the stored version", "-- config/samples/sidecar.yaml --\n" + widget("v1alpha1", "a", "{x: 1}") +
			"-- config/samples/core_v1_widget.yaml --\n" + widget("v1", "b", "{x: 1}"), "config/samples/core_v1_widget.yaml:1", 0},
		{"no version that is not served", "-- examples/a.yaml --\n" + widget("v2", "a", "{x: 1}") + "-- other/b.yaml --\n" +
			widget("v1alpha1", "b", "{x: 1}"), "other/b.yaml:1", 0},
		{"no empty one", "-- examples/a.yaml --\n" + widget("v1", "a", "") + "-- examples/b.yaml --\n" +
			widget("v1", "b", "{x: 1}"), "examples/b.yaml:1", 0},
		{"an example in place of an empty stub", "-- config/samples/a.yaml --\n" + widget("v1", "a", "") + "-- site/examples/b.yaml --\n" +
			widget("v1", "b", "{x: 1}"), "site/examples/b.yaml:1", 0},
		{"the simple one", "-- examples/a.yaml --\n" + widget("v1", "a", "{x: 1}") + "-- examples/simple.yaml --\n" +
			widget("v1", "b", "{x: 1, y: 2}"), "examples/simple.yaml:1", 0},
		{"none of a test", "-- test/e2e/a.yaml --\n" + widget("v1", "a", "{x: 1}") + "-- topology-test/a.yaml --\n" +
			widget("v1", "a", "{x: 1}"), "", 0},
		{"none without a name", "-- examples/a.yaml --\n" + strings.Replace(widget("v1", "a", "{x: 1}"), "{name: a}", "{}", 1),
			"", 0},
		{"one with a generated name", "-- examples/a.yaml --\n" + strings.Replace(widget("v1", "a-", "{x: 1}"), "name:", "generateName:", 1),
			"examples/a.yaml:1", 0},
		{"of the same kind, one", "-- examples/a.yaml --\n" + widget("v1", "a", "{x: 1, y: 2}") + "---\n" +
			widget("v1", "b", "{x: 1}"), "examples/a.yaml:6", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := found(t, base+c.archive, install.Options{})
			if c.want == "" {
				if len(r.Samples) > 0 {
					t.Errorf("sample %s, want none", r.Samples[0].File)
				}
				wantNote(t, r, "no sample of Widget.example.com")
				return
			}
			if len(r.Samples) != 1 {
				t.Fatalf("%d samples, want one", len(r.Samples))
			}
			wantNote(t, r, "sample of Widget.example.com: "+c.want)
			if got := len(r.Samples[0].Beside); got != c.beside {
				t.Errorf("%d objects beside the sample, want %d", got, c.beside)
			}
		})
	}
}

// The samples of a kustomization are complete objects. Its objects of built-in kinds exist beside them.
// Samples of kinds that a source file reconciles come first.
func TestSamplesOfReconciledKinds(t *testing.T) {
	second := strings.NewReplacer("widget", "zebra", "Widget", "Zebra").Replace
	r := found(t, program+"-- config/crd/bases/widgets.yaml --\n"+crd+"-- config/crd/bases/zebras.yaml --\n"+second(crd)+
		"-- config/samples/a.yaml --\n"+widget("v1", "a", "{x: 1}")+"-- config/samples/b.yaml --\n"+second(widget("v1", "b", "{x: 1}"))+
		"-- internal/controller.go --\npackage internal\n\nvar c = builder.\n\tFor(&v1.Zebra{}).\n\tOwns(&v1.Widget{})\n", install.Options{})
	if len(r.Samples) != 2 || r.Samples[0].GetKind() != "Zebra" {
		t.Errorf("the samples are %v", r.Samples)
	}
}

func TestSampleOfKustomization(t *testing.T) {
	archive := program + "-- config/crd/bases/widgets.yaml --\n" + crd + `
-- examples/a/kustomization.yaml --
resources: [../base]
patches: [{path: tiny.yaml}]
-- examples/a/tiny.yaml --
` + widget("v1", "a", "{x: 1}") + `
-- examples/base/kustomization.yaml --
resources: [secret.yaml, widget.yaml, other.yaml, another.yaml]
-- examples/base/widget.yaml --
` + widget("v1", "a", "{x: 1, y: 2}") + `
-- examples/base/another.yaml --
` + widget("v1", "c", "{x: 1, y: 2, z: 3}") + `
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: default}
-- examples/base/other.yaml --
` + widget("v1", "b", "{x: 1, y: 2, z: 3}") + `
-- examples/base/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
`
	for _, opts := range []install.Options{{}, {Samples: []string{"examples/base/widget.yaml"}}} {
		r := found(t, archive, opts)
		if len(r.Samples) != 1 || r.Samples[0].File != "examples/base/widget.yaml" {
			t.Fatalf("samples %v", r.Samples)
		}
		if diff := cmp.Diff([]string{"Secret /s examples/base/secret.yaml"}, shown(r.Samples[0].Beside)); diff != "" {
			t.Errorf("objects beside the sample: - want, + got\n%s", diff)
		}
	}
}

// An object that does not fit the schema of its CRD is not used as a sample if there is another one.
func TestSampleThatFitsItsSchema(t *testing.T) {
	schema := `storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
    required: [pools, size], properties: {size: {type: integer, default: 1}, pools: {type: array, items: {type: object,
    required: [name], properties: {name: {type: string}, any: {type: object}}}}}}}}}}`
	base := program + "-- config/crd/bases/widgets.yaml --\n" + strings.Replace(crd, "storage: true}", schema, 1) +
		"-- examples/whole/deep/a.yaml --\n" + widget("v1", "a", "{pools: [{name: x, any: {b: 1}}]}")
	for _, patch := range []string{"{size: 2}", "{pools: [{name: x}], log: {}}", "{pools: [{size: 1}]}", "{pools: [{name: x, b: 1}]}"} {
		r := found(t, base+"-- examples/patch.yaml --\n"+widget("v1", "a", patch), install.Options{})
		if len(r.Samples) != 1 || r.Samples[0].File != "examples/whole/deep/a.yaml" {
			t.Errorf("%s: samples %v", patch, r.Samples)
		}
	}
}

// A CRD that the repository lacks may be in a module of the operator.
func TestModuleCRDs(t *testing.T) {
	r := found(t, `
-- go.mod --
module example.com/operator

go 1.21

require example.org/gadgets v1.2.3

replace example.org/gadgets => ./gadgets
-- main.go --
package main

import _ "example.org/gadgets/api"

func main() {}
-- gadgets/go.mod --
module example.org/gadgets
-- gadgets/api/api.go --
package api
-- gadgets/config/crd/gadgets.yaml --
`+gadget(crd)+`
-- gadgets/config/crd/widgets.yaml --
`+crd, install.Options{})
	all := r.ModuleCRDs(t.Context(), "example.com", "Gadget")
	if diff := cmp.Diff([]string{"CustomResourceDefinition /gadgets.example.com example.org/gadgets@v1.2.3/config/crd/gadgets.yaml"}, shown(all)); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	if all := r.ModuleCRDs(t.Context(), "example.org", "Gadget"); all != nil {
		t.Error(shown(all))
	}
}

// The placeholders in a Secret beside a sample are encoded.
func TestSecretWithPlaceholder(t *testing.T) {
	r := found(t, program+"-- config/crd/bases/widgets.yaml --\n"+crd+"-- config/samples/a.yaml --\n"+widget("v1", "a", "{x: 1}")+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {token: <token>, key: a2V5}\n", install.Options{})
	data, _, _ := unstructured.NestedStringMap(r.Samples[0].Beside[0].Object, "data")
	if data["token"] != "PHRva2VuPg==" || data["key"] != "a2V5" {
		t.Error(data)
	}
	wantNote(t, r, "config/samples/a.yaml:6: data.token of Secret s is no base64, so it is encoded")
}

// An object that the operator looks for is found in any file that may contain samples, first in the given directory.
func TestNamed(t *testing.T) {
	secret := func(dir string) string {
		return "-- " + dir + "/secret.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: login}\n"
	}
	r := found(t, program+secret("config/samples/b")+secret("docs/examples/a")+secret("test/e2e"), install.Options{})
	const one, two = "Secret /login config/samples/b/secret.yaml", "Secret /login docs/examples/a/secret.yaml"
	for near, want := range map[string][]string{"": {one, two}, "docs/examples/a": {two, one}} {
		for _, kind := range []string{"secret", "secrets"} {
			if got := shown(r.Named(kind, "login", near)); !slices.Equal(got, want) {
				t.Errorf("%s near %q: %v", kind, near, got)
			}
		}
	}
	if all := append(r.Named("secret", "other", ""), r.Named("configmap", "login", "")...); len(all) > 0 {
		t.Error(shown(all))
	}
}

// If the options name a sample, the other samples of the repository are other samples.
func TestOtherSamples(t *testing.T) {
	archive := program + "-- config/crd/bases/widgets.yaml --\n" + crd + "-- config/crd/bases/gadgets.yaml --\n" +
		strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget").Replace(crd) + "-- config/samples/a.yaml --\n" +
		widget("v1", "a", "{x: 1}") + "-- config/samples/b.yaml --\n" + strings.Replace(widget("v1", "b", "{x: 1}"), "Widget", "Gadget", 1)
	r := found(t, archive, install.Options{Samples: []string{"config/samples/a.yaml"}})
	if len(r.Samples) != 1 || len(r.OtherSamples) != 1 || r.OtherSamples[0].File != "config/samples/b.yaml" {
		t.Errorf("samples %v, others %v", r.Samples, r.OtherSamples)
	}
	if r := found(t, archive, install.Options{}); len(r.Samples) != 2 || r.OtherSamples != nil {
		t.Errorf("samples %v, others %v", r.Samples, r.OtherSamples)
	}
}

// An object with a placeholder as its name is not used as a sample if there is another one.
func TestSampleWithAName(t *testing.T) {
	placeholder := program + "-- config/crd/bases/widgets.yaml --\n" + crd + "-- config/samples/a.yaml --\n" + widget("v1", "NAME", "{x: 1}")
	for archive, want := range map[string]string{placeholder: "config/samples/a.yaml",
		placeholder + "-- docs/examples/a.yaml --\n" + widget("v1", "a", "{x: 1}"): "docs/examples/a.yaml"} {
		if r := found(t, archive, install.Options{}); len(r.Samples) != 1 || r.Samples[0].File != want {
			t.Errorf("samples %v, want %s", r.Samples, want)
		}
	}
}

// An object with the name of an installed one is no sample: the server would refuse it.
func TestSampleThatIsInstalled(t *testing.T) {
	archive := running("containers:\n- {name: manager, image: widget}", widget("v1", "config", "{x: 1}")) +
		"-- config/crd/bases/widgets.yaml --\n" + crd + "-- dist/install.yaml --\n" + widget("v1", "config", "{x: 2}")
	r := found(t, archive, install.Options{Install: "install.yaml"})
	if len(r.Samples) > 0 {
		t.Errorf("samples %v", r.Samples)
	}
	wantNote(t, r, "no sample of Widget.example.com")
}

// Lines of a documentation generator are ignored.
func TestSampleWithMacros(t *testing.T) {
	r := found(t, program+"-- config/crd/bases/widgets.yaml --\n"+crd+"-- docs/examples/a.yaml --\n{% raw %}\n"+widget("v1", "a", "{x: 1}")+
		"{% endraw %}\n", install.Options{})
	if len(r.Samples) != 1 || r.Samples[0].Line != 2 {
		t.Errorf("samples %v", r.Samples)
	}
}

// If there is no sample, objects whose kind or version no CRD serves are noted.
func TestSamplesOfNoKind(t *testing.T) {
	archive := program + "-- config/crd/bases/widgets.yaml --\n" + crd + "-- config/samples/a.yaml --\n" +
		strings.Replace(widget("v1", "a", "{x: 1}"), "kind: Widget", "kind: Wigdet", 1) + "-- config/samples/b.yaml --\n" +
		widget("v9", "b", "{x: 1}")
	r := found(t, archive, install.Options{})
	wantNote(t, r, "config/samples/a.yaml:1: no CRD serves example.com/v1 Wigdet; did you mean example.com/v1 Widget?")
	wantNote(t, r, "config/samples/b.yaml:1: no CRD serves example.com/v9 Widget; did you mean example.com/v1")
	wantNote(t, r, "no sample of Widget.example.com")
}

func TestSamplesThatWereNamed(t *testing.T) {
	archive := program + "-- config/crd/bases/widgets.yaml --\n" + crd + "-- config/samples/a.yaml --\n" + widget("v1", "a", "{}") +
		"-- my/b.yaml --\n" + widget("v1", "b", "{}") + "---\n" + widget("v1", "c", "{}") +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n" +
		"-- my/d.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: d}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: e}\n" +
		"-- my/f.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: f}}\n"
	r := found(t, archive, install.Options{Samples: []string{"my"}})
	var names []string
	for _, s := range r.Samples {
		names = append(names, s.GetName()+" beside "+strings.Join(shown(s.Beside), ", "))
	}
	want := []string{"b beside Secret /s my/b.yaml", "c beside Secret /s my/b.yaml", "d beside Secret /e my/d.yaml", "f beside "}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("samples: - want, + got\n%s", diff)
	}
	wantNote(t, r, "my/b.yaml: its custom objects are the samples. To try a built-in one, name a file that holds it "+
		"alone, and the others by --with")
	_, err := find(t, archive, install.Options{Samples: []string{"nowhere.yaml"}})
	wantError(t, err, "--sample nowhere.yaml: no such file or directory")
}

// Other objects in a sample's file exist beside the sample, even custom objects.
func TestCustomObjectsBesideSamples(t *testing.T) {
	r := found(t, program+"-- config/crd/bases/widgets.yaml --\n"+crd+"-- config/crd/bases/gadgets.yaml --\n"+gadget(crd)+
		"-- my.yaml --\n"+widget("v1", "a", "{}")+"---\n"+gadget(widget("v1", "b", "{}")),
		install.Options{Samples: []string{"my.yaml"}})
	for i, want := range [][]string{{"Gadget /b my.yaml"}, {"Widget /a my.yaml"}} {
		if got := shown(r.Samples[i].Beside); !slices.Equal(got, want) {
			t.Errorf("beside %s: %q, want %q", r.Samples[i].GetName(), got, want)
		}
	}
}

// Many YAML files in a repository are not manifests.
func TestReading(t *testing.T) {
	r := found(t, program+`
-- crds/template.yaml --
{{- if .Values.crds }}
`+crd+`
{{- end }}
-- crds/braces.yaml --
`+gadget(crd)+`
  # {{ not a template }}
-- crds/comments.yaml --
# Nothing here.
---
# Nor here.
-- crds/values.yaml --
enabled: true
-- crds/bad.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: bad
   spec: {}
-- crds/list.yaml --
apiVersion: v1
kind: List
items:
- `+strings.TrimSpace(strings.ReplaceAll(strings.NewReplacer("widget", "gizmo", "Widget", "Gizmo").Replace(crd), "\n", "\n  "))+`
-- crds/windows.yaml --
`+strings.ReplaceAll("---\n# Windows.\n"+crd, "\n", "\r\n")+`
-- crds/text.json --
{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "jsons.example.com"},
 "spec": {"group": "example.com", "names": {"kind": "JSON"}, "versions": [{"name": "v1", "served": true}]}}
-- crds/other.json --
[1, 2]
`, install.Options{})
	var got []string
	for _, o := range r.CRDs {
		got = append(got, o.GetName()+" "+o.File)
	}
	want := []string{"gadgets.example.com crds/braces.yaml", "gizmos.example.com crds/list.yaml",
		"jsons.example.com crds/text.json", "widgets.example.com crds/windows.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CRDs: - want, + got\n%s", diff)
	}
	if line := r.CRDs[3].Line; line != 3 {
		t.Errorf("the CRD with carriage returns is on line %d, want 3", line)
	}
	wantNote(t, r, "crds/bad.yaml:5: bad YAML: mapping values are not allowed in this context: left out")
	for _, note := range r.Notes {
		if strings.Contains(note, "template.yaml") {
			t.Errorf("a template is noted: %s", note)
		}
	}
}

func TestReadingLargeAndUnreadableFiles(t *testing.T) {
	dir := repository(t, program+"-- crds/locked.yaml --\n"+crd+"-- crds/large.yaml --\n"+gadget(crd))
	if err := os.Truncate(filepath.Join(dir, "crds/large.yaml"), 33<<20); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "crds/locked.yaml")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	r, err := install.Find(t.Context(), install.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	wantNote(t, r, "crds/large.yaml has 33 MiB, more than 32: left out")
	if text, err := os.ReadFile(locked); err == nil {
		t.Skipf("this user may read every file: %d bytes", len(text))
	}
	wantNote(t, r, "crds/locked.yaml cannot be read: permission denied: left out")
}
