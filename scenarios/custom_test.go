package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

func archive(script string, sections ...string) string {
	for i := 0; i < len(sections); i += 2 {
		script += "\n-- " + sections[i] + " --\n" + strings.TrimSpace(sections[i+1]) + "\n"
	}
	return script
}

func interpret(t *testing.T, g *scenarios.Registry, text string) *scenarios.Result {
	t.Helper()
	f, err := scenarios.Parse("w.txtar", []byte(text))
	must(t, err)
	return scenarios.Interpret(f, scenarios.Options{Registry: g, Twice: true})
}

// A step that can name a kind can also name a kind that the file defines.
func TestCustomKindsInEveryVerb(t *testing.T) {
	script := `
apply crd.yaml
controllers widget gc
apply world.yaml
settle
expect 2 cm controller=widget/a
expect 2 widgets
expect wd/a
get widgets
----
widget/a  app=web  controller: none
widget/b  (none)   controller: none

get widget/a path=spec.count
----
2

owners
----
widget/a  cm/a-0 cm/a-1
widget/b  cm/b-0

hold widget sees=Widget
scale widget/b replicas=2
settle
expect 3 cm
release widget sees=Widget
settle
expect 4 cm
label widgets/a tier=front
annotate widget/a note=x
patch widget/a type=merge '{spec: {count: 1}}'
settle
expect 2 widgets selector=tier!=back
expect 3 cm
fail widget create cm with=500
fail widget get widget with=500
relist widget Widget
crash widget before delete widget back=true
restart widget
delete widget/a
settle
expect 2 cm
expect 1 widgets.example.com
! scale widget/b replicas=-1
delete crd/widgets.example.com
settle
expect 0 widgets
expect 0 cm
! get widget/b
! label widget/b x=y
`
	script = strings.Replace(script, "! scale widget/b replicas=-1\n", "", 1)
	res := interpret(t, operators(false), archive(script, "crd.yaml", widgetDefinition, "world.yaml", widgetWorld))
	for _, e := range res.Errors {
		t.Error(e)
	}
}

// Mistakes in a file are reported before anything runs, in one line.
func TestCustomKindsChecked(t *testing.T) {
	crd := []string{"crd.yaml", widgetDefinition}
	one := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  count: 1\n"
	cases := []struct{ script, world, want string }{
		{"apply crd.yaml\nget widgetz\n", "", "w.txtar:2: get: unknown kind widgetz; did you mean Widget?"},
		{"apply crd.yaml\napply w.yaml\n", strings.Replace(one, "count", "cuont", 1),
			"w.txtar:29: unknown field spec.cuont of Widget in w.yaml; did you mean count?"},
		{"apply crd.yaml\napply w.yaml\n", strings.Replace(one, "labels", "lables", 1) + "  sise: x\n",
			"unknown field spec.sise of Widget in w.yaml; did you mean size?"},
		{"apply crd.yaml\napply w.yaml\n", strings.Replace(one, "name: a", "name: a, lables: {}", 1),
			"unknown field metadata.lables of Widget in w.yaml; did you mean labels?"},
		{"apply crd.yaml\napply w.yaml\n", strings.Replace(one, "Widget", "Wigdet", 1),
			"w.txtar:26: unknown kind Wigdet; did you mean Widget?"},
		{"apply crd.yaml\napply w.yaml\n", strings.Replace(one, "/v1", "/v2", 1),
			"unknown apiVersion example.com/v2 of Widget; did you mean example.com/v1?"},
		{"get widgets\napply crd.yaml\n", "",
			"w.txtar:1: get: unknown kind widgets: crd.yaml defines it, but is not applied before this step"},
		{"controllers widget\napply crd.yaml\n", "",
			"w.txtar:1: controllers: widget works on Widget of example.com/v1, which is not served: apply its CRD " +
				"first"},
		{"apply crd.yaml\nscale widget/a replicas=2\napply w.yaml\n", one, ""},
		{"define nowhere/crds\napply crd.yaml\n", "",
			"w.txtar:1: define: nowhere/crds: no section has this name, and there is no such file or directory"},
		{"apply crd.yaml\napply w.yaml\nexpect widget/a controller=none\n",
			strings.Replace(one, "count: 1", "count: many", 1),
			"refused: widget/a: 422 Invalid: [spec.count: spec.count in body must be of type integer"},
	}
	for _, c := range cases {
		sections := crd
		if c.world != "" {
			sections = append(crd[:2:2], "w.yaml", c.world)
		}
		f, err := scenarios.Parse("w.txtar", []byte(archive(c.script, sections...)))
		must(t, err)
		text := ""
		if res := scenarios.Interpret(f, scenarios.Options{Registry: operators(false)}); len(res.Errors) > 0 {
			text = res.Errors[0].Error()
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
			t.Errorf("%q:\n got %s\nwant %s", c.script, text, c.want)
		}
	}
}

// A CRD that the server refuses is a mistake on its own line, unless the file expects it.
func TestRefusedDefinition(t *testing.T) {
	bad := strings.Replace(widgetDefinition, "plural: widgets", "plural: gadgets", 1)
	res := interpret(t, operators(false), archive("apply crd.yaml\ncontrollers widget\n", "crd.yaml", bad))
	if len(res.Errors) != 1 ||
		!strings.Contains(res.Errors[0].Error(), "w.txtar:5: crd/widgets.example.com is refused: 422 Invalid") ||
		res.ExitCode != scenarios.ExitUsage {
		t.Errorf("%+v", res.Errors)
	}
	res = interpret(t, operators(false), archive("! apply crd.yaml\nget pods\n", "crd.yaml", bad))
	if res.ExitCode != scenarios.ExitPass {
		t.Errorf("%+v", res.Errors)
	}
}

// A file does not know the CRDs of other files, and may define the same kinds differently.
func TestDefinitionsDoNotLeak(t *testing.T) {
	g := operators(false)
	other := strings.NewReplacer("count: {type: integer, minimum: 0}, ", "", "size: {type: string}",
		"count: {type: string}").Replace(widgetDefinition)
	world := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {count: %}\n"
	for range 2 {
		for _, c := range []struct {
			crd, count string
			code       int
		}{{widgetDefinition, "1", 0}, {widgetDefinition, "'1'", 1},
			{strings.Replace(other, ", scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}", "",
				1), "'1'", 0}} {
			text := archive("apply crd.yaml\napply w.yaml\nsettle\nget widgets\n", "crd.yaml", c.crd, "w.yaml",
				strings.Replace(world, "%", c.count, 1))
			if res := interpret(t, g, text); res.ExitCode != c.code {
				t.Errorf("count %s: %v", c.count, res.Errors)
			}
		}
		if res := interpret(t, g, archive("get widgets\n")); res.ExitCode != scenarios.ExitUsage {
			t.Errorf("a kind that another file defines is known: %+v", res.Steps)
		}
	}
}

// A changed CRD takes effect at once, and watches of its kind continue.
func TestDefinitionChanges(t *testing.T) {
	changed := strings.Replace(widgetDefinition, "size: {type: string}", "size: {type: string}, color: {type: string}",
		1)
	script := `apply crd.yaml
controllers widget gc
apply world.yaml
settle
apply crd2.yaml
apply w.yaml
settle
expect 4 cm
delete widget/a
settle
expect 2 cm
get widget/b path=spec.color
----
red
`
	world := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {count: 2, color: red}\n"
	res := interpret(t, operators(false),
		archive(script, "crd.yaml", widgetDefinition, "crd2.yaml", changed, "world.yaml", widgetWorld, "w.yaml", world))
	for _, e := range res.Errors {
		t.Error(e)
	}
}

// A directory of CRDs is relative to the file.
func TestDefine(t *testing.T) {
	dir := t.TempDir()
	bases := filepath.Join(dir, "config", "crd", "bases")
	must(t, os.MkdirAll(bases, 0o755))
	other := strings.NewReplacer("widget", "gadget", "Widget", "Gadget", "wd", "gd").Replace(widgetDefinition)
	for name, text := range map[string]string{"widgets.yaml": "---\n" + widgetDefinition,
		"gadgets.yml": other + "---\nkind: Kustomization\n", "notes.txt": "x", "k.yaml": "resources: []\n"} {
		must(t, os.WriteFile(filepath.Join(bases, name), []byte(text), 0o644))
	}
	path := filepath.Join(dir, "w.txtar")
	script := archive("define config/crd/bases\ncontrollers widget\napply world.yaml\nsettle\nexpect cm/a-z\nget "+
		"gadgets\n----\n(none)\n", "world.yaml",
		widgetWorld+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-z}\n")
	must(t, os.WriteFile(path, []byte(script), 0o644))
	res := scenarios.RunFile(path, scenarios.Options{Registry: operators(false), Twice: true})
	if res.ExitCode != scenarios.ExitPass {
		t.Fatal(res.Errors)
	}
	// The file of a failure is self-contained.
	f, err := scenarios.Load(path)
	must(t, err)
	x, err := scenarios.Explore(t.Context(), f, -1, operators(true), scenarios.ExploreOptions{Schedules: 200})
	if err != nil || len(x.Failures) == 0 {
		t.Fatalf("%v\n%s", err, x.Text())
	}
	text := string(x.Failures[0].File)
	if !strings.Contains(text, "-- config/crd/bases/widgets.yaml --") || strings.Contains(text, "Gadget") {
		t.Errorf("the file of a failure holds\n%s", text)
	}
	replays(t, operators(true), x.Failures[0])
	if err := os.WriteFile(filepath.Join(bases, "widgets.yaml"),
		[]byte(strings.Replace(widgetDefinition, "group:", "gruop:", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	res = scenarios.RunFile(path, scenarios.Options{Registry: operators(false)})
	if want := filepath.Join(bases, "widgets.yaml") + ":6: unknown field spec.gruop"; len(res.Errors) == 0 ||
		!strings.Contains(res.Errors[0].Error(), want) {
		t.Errorf("got %v, want %s", res.Errors, want)
	}
}

// replays runs a failure's file on its own.
func replays(t *testing.T, g *scenarios.Registry, f *scenarios.Counterexample) {
	t.Helper()
	file, err := scenarios.Parse("failure.txtar", f.File)
	must(t, err)
	res := scenarios.Interpret(file, scenarios.Options{Registry: g, Twice: true})
	if res.ExitCode != scenarios.ExitPass {
		t.Errorf("it does not replay: %v\n%s", res.Errors, f.File)
	}
}

// An operator for a custom resource can be explored. The failure of the broken operator is found, minimized and
// replayed.
func TestCustomOperator(t *testing.T) {
	world := widgetWorld +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-z}\n---\napiVersion: v1\nkind: " +
		"ConfigMap\nmetadata: {name: plain}\n"
	script := "apply crd.yaml\ncontrollers widget gc\napply world.yaml\nsettle quiet\nscale widget/a " +
		"replicas=3\nlabel widget/a tier=front\nscale widget/b replicas=0\nsettle\nexpect cm/a-z\n"
	text := archive(script, "crd.yaml", widgetDefinition, "world.yaml", world)
	explored := func(broken bool, o scenarios.ExploreOptions) *scenarios.Exploration {
		f, err := scenarios.Parse("w.txtar", []byte(text))
		must(t, err)
		x, err := scenarios.Explore(t.Context(), f, -1, operators(broken), o)
		must(t, err)
		return x
	}
	if x := explored(false, scenarios.ExploreOptions{Schedules: 300}); x.Failed+x.Unsettled > 0 {
		t.Errorf("the good one:\n%s", x.Text())
	}
	for _, o := range []scenarios.ExploreOptions{{Schedules: 300}, {Strategy: "exhaustive", States: 3000}} {
		x := explored(true, o)
		if len(x.Failures) == 0 {
			t.Fatalf("the broken one:\n%s", x.Text())
		}
		for _, f := range x.Failures {
			replays(t, operators(true), f)
			if !strings.Contains(string(f.File), "kind: CustomResourceDefinition") ||
				strings.Contains(string(f.File), "name: plain") {
				t.Errorf("the file of %s lacks the CRD, or contains an object that is not needed:\n%s", f.Law, f.File)
			}
		}
	}
}

// If two groups have a kind of the same name, a step means the object that exists or has existed.
func TestKindOfTwoGroups(t *testing.T) {
	crd := func(group string) string {
		return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gates.` + group + `}
spec:
  group: ` + group + `
  names: {kind: Gate, plural: gates}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`
	}
	r := interpret(t, operators(false), archive(`
apply a.yaml
apply b.yaml
apply world.yaml
label gate/x a=b
label gate/y a=b
expect 1 gates.a.example.com selector=a=b
expect 1 gates.b.example.com selector=a=b
delete gate/y
expect 0 gates.b.example.com
! label gate/y a=c
apply world.yaml
label gate/y a=b
expect 1 gates.b.example.com selector=a=b
`, "a.yaml", crd("a.example.com"), "b.yaml", crd("b.example.com"), "world.yaml", `
apiVersion: a.example.com/v1
kind: Gate
metadata: {name: x}
---
apiVersion: b.example.com/v1
kind: Gate
metadata: {name: y}
`))
	for _, e := range r.Errors {
		t.Error(e)
	}
}
