package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

// installed writes a file with Widgets and an operator that creates too many objects. A CRD in a file on disk and a
// namespace exist from the start.
func installed(t *testing.T, script string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	bases := filepath.Join(dir, "config", "crd", "bases")
	must(t, os.MkdirAll(bases, 0o755))
	path = filepath.Join(dir, "w.txtar")
	space := "apiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: system}\n# " + strings.Repeat("x", 20_000) + "\n"
	other := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-z}\n"
	for name, text := range map[string]string{filepath.Join(bases, "widgets.yaml"): widgetDefinition,
		path: archive(script, "installed.yaml", space, "world.yaml", widgetWorld+other)} {
		must(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return dir, path
}

// When a failure is minimized, installed objects are not removed. The file names the files on disk if their directory
// is known. Otherwise it contains their content, which is packed if it is long.
func TestFailuresInstall(t *testing.T) {
	dir, path := installed(t, "install config/crd/bases installed.yaml\ncontrollers widget gc\napply world.yaml\n"+
		"settle quiet\nscale widget/a replicas=3\nlabel widget/a tier=front\nscale widget/b replicas=0\nsettle\nexpect cm/a-z\n")
	for _, out := range []string{filepath.Join(dir, "testdata", "found"), ""} {
		f, err := scenarios.Load(path)
		must(t, err)
		x, err := scenarios.Explore(t.Context(), f, -1, operators(true), scenarios.ExploreOptions{Schedules: 200, Out: out})
		if err != nil || len(x.Failures) == 0 {
			t.Fatalf("%v: found nothing\n%s", err, x.Text())
		}
		text := string(x.Failures[0].File)
		want := "install ../../config/crd/bases/widgets.yaml installed.yaml\n"
		if out == "" {
			want = "install config/crd/bases/widgets.yaml installed.yaml\n"
		}
		if !strings.Contains(text, want) || strings.Contains(text, "openAPIV3Schema") != (out == "") ||
			!strings.Contains(text, "\n-- installed.yaml.gz --\n") || len(text) > 10_000 {
			t.Errorf("written to %q:\n%s", out, text)
		}
		if out == "" {
			out = t.TempDir()
		}
		must(t, os.MkdirAll(out, 0o755))
		kept := filepath.Join(out, "kept.txtar")
		must(t, x.Failures[0].WriteFile(kept))
		if res := scenarios.RunFile(kept, scenarios.Options{Registry: operators(true), Twice: true}); res.ExitCode != 0 {
			t.Errorf("written to %q: %v", out, res.Errors)
		}
	}
}

func TestInstallMistakes(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"controllers gc\ninstall a.yaml\n",
			"w.txtar:2: install: controllers comes before it, on line 1: installed objects exist before the first step"},
		{"install b.yaml\n", "w.txtar:1: install: b.yaml: no section has this name, and there is no such file"},
		{"install a.yaml\n", "w.txtar:4: cm/A_B is refused: 422 Invalid"},
	} {
		res := interpret(t, operators(false),
			archive(c.script, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\n"))
		if len(res.Errors) != 1 || !strings.HasPrefix(res.Errors[0].Error(), c.want) {
			t.Errorf("%q\ngot  %v\nwant %s", c.script, res.Errors, c.want)
		}
	}
}

const owned = `
apiVersion: v1
kind: ConfigMap
metadata: {name: owner}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: child, labels: {of: "$(uid cm/owner)"}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $(uid cm/owner), controller: true}]}
`

// An expression $(uid ...) in a manifest, a patch or a label is replaced by the object's UID at the time of the
// request.
func TestUIDs(t *testing.T) {
	script := `apply world.yaml
expect 1 cm controller=cm/owner
delete cm/owner
apply world.yaml
patch cm/child type=merge '{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: child, uid: $(uid cm/child)}]}}'
label cm/owner 'of=$(uid cm/owner)'
controllers gc
settle
expect cm/child
`
	if res := interpret(t, registry(), archive(script, "world.yaml", owned)); res.ExitCode != scenarios.ExitPass {
		t.Error(res.Errors)
	}
	for script, want := range map[string]string{
		"apply world.yaml\ndelete cm/owner\nlabel cm/child 'of=$(uid cm/ownr)'\n": "w.txtar:3: label: $(uid " +
			"cm/ownr): there is no cm/ownr",
		"apply world.yaml\nlabel cm/child 'of=$(uid cm/ownr)'\n": "w.txtar:2: label: $(uid " +
			"cm/ownr): there is no cm/ownr; did you mean cm/owner?",
		"apply world.yaml\nlabel cm/child 'of=$(uid ownr)'\n": "w.txtar:2: label: $(uid " +
			"ownr): ownr is not an object: write KIND/NAME",
		"apply world.yaml\npatch cm/child '{metadata: {uid: \"$(uid rss/owner)\"}}'\n": "w.txtar:2: patch: $(uid " +
			"rss/owner): unknown kind rss",
	} {
		res := interpret(t, registry(), archive(script, "world.yaml", owned))
		if len(res.Errors) == 0 || !strings.Contains(res.Errors[0].Error(), want) ||
			res.ExitCode != scenarios.ExitUsage {
			t.Errorf("%v, want %s", res.Errors, want)
		}
	}
}

// If a process lists at a revision before the stored version changed, it does not find the objects of the new version.
// It receives them from its watch.
func TestStoredVersionIsMetWhenItIsStored(t *testing.T) {
	script := `
apply crd.yaml
controllers garbagecollector
apply world.yaml
settle
label widgets/a x=y
mark m
patch crd/widgets.example.com type=json 'FLIP'
label widgets/b x=y
settle
relist garbagecollector Widget
settle
restart garbagecollector from=m
settle
delete widgets/a
settle
get widgets
hash
----
67bfc6eacb5f5703
`
	flip := `[{"op":"replace","path":"/spec/versions/0/storage","value":false},` +
		`{"op":"replace","path":"/spec/versions/1/storage","value":true}]`
	crd := `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	world := `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
`
	flipped := strings.Replace(script, "FLIP", flip, 1)
	res := interpret(t, operators(false), archive(flipped, "crd.yaml", crd, "world.yaml", world))
	for _, e := range res.Errors {
		t.Error(e)
	}
}
