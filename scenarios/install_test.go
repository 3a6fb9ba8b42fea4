package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

// installed writes a file with widgets and an operator that makes too many. Its CRD, in a file on disk, and a namespace
// exist from the start.
func installed(t *testing.T, script string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	bases := filepath.Join(dir, "config", "crd", "bases")
	if err := os.MkdirAll(bases, 0o755); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "w.txtar")
	space := "apiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: system}\n"
	other := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-z}\n"
	for name, text := range map[string]string{filepath.Join(bases, "widgets.yaml"): widgetDefinition,
		path: archive(script, "installed.yaml", space, "world.yaml", widgetWorld+other)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, path
}

// Installed objects exist from the start, and timelines do not show them.
func TestInstall(t *testing.T) {
	_, path := installed(t, `install config/crd/bases installed.yaml
controllers widget gc
expect system/cm/config
apply world.yaml
settle
expect 5 cm
`)
	res := scenarios.RunFile(path, scenarios.Options{Registry: operators(false), Twice: true})
	for _, e := range res.Errors {
		t.Error(e)
	}
}

// A minimized failure keeps all that is installed. It names the files on disk if their directory is known, and
// otherwise contains them.
func TestFailuresInstall(t *testing.T) {
	dir, path := installed(t, "install config/crd/bases installed.yaml\ncontrollers widget gc\napply world.yaml\n"+
		"settle quiet\nscale widget/a replicas=3\nlabel widget/a tier=front\nscale widget/b replicas=0\nsettle\nexpect cm/a-z\n")
	for _, out := range []string{filepath.Join(dir, "testdata", "found"), ""} {
		f, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
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
			!strings.Contains(text, "kind: Namespace") {
			t.Errorf("written to %q:\n%s", out, text)
		}
		if out == "" {
			out = t.TempDir()
		}
		if err := os.MkdirAll(out, 0o755); err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(out, "kept.txtar")
		if err := x.Failures[0].WriteFile(kept); err != nil {
			t.Fatal(err)
		}
		if res := scenarios.RunFile(kept, scenarios.Options{Registry: operators(true), Twice: true}); res.ExitCode != 0 {
			t.Errorf("written to %q: %v", out, res.Errors)
		}
	}
}

func TestInstallMistakes(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"controllers gc\ninstall a.yaml\n",
			"w.txtar:2: install: controllers stands above it, on line 1: what is installed exists before anything happens"},
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
