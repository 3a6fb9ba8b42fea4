package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// matrix has the releases of controller-runtime that a main of kubebuilder is built with.
var matrix = []string{"v0.17.6", "v0.18.7", "v0.19.7", "v0.20.4", "v0.21.0", "v0.22.4", "v0.23.0", "v0.24.1", "v0.25.2"}

// The same main, at the versions of many years, is one run each time; a planted bug is found in each.
func TestMatrix(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("nine stacks of Kubernetes are downloaded and built: with SOAK in the environment only")
	}
	for _, version := range matrix {
		t.Run(version, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "manager")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "manager"))); err != nil {
				t.Fatal(err)
			}
			goMod := "module example.com/manager\n\ngo 1.25.0\n\nrequire sigs.k8s.io/controller-runtime " + version + "\n"
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil {
				t.Fatal(err)
			}
			tidy := exec.CommandContext(t.Context(), "go", "mod", "tidy")
			tidy.Dir = dir
			if text, err := tidy.CombinedOutput(); err != nil {
				t.Skipf("the module proxy does not serve it: %v\n%s", err, text)
			}
			b := programIn(t, dir)
			same(t, b.Controller(keeper), 20, manyFaults)
			b = programIn(t, dir)
			b.Env = []string{"PANIC=1"}
			w := run(t, b.Controller(keeper), sim.Zero{}, nil)
			defer w.Stop()
			if v := w.Broken(); v == nil || !strings.Contains(v.String(), "assignment to entry in nil map, at manager/main.go:") {
				t.Errorf("the violation is %v", v)
			}
		})
	}
}
