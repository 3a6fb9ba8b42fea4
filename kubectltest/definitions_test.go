package kubectltest

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var definitions = flag.Bool("definitions", false, "download the definitions of other projects, and install them")

// project is a module whose definitions are in some directories of it.
type project struct {
	module string
	dirs   []string
}

var projects = []project{
	{"sigs.k8s.io/gateway-api@v1.4.0", []string{"config/crd/standard"}},
	{"sigs.k8s.io/cluster-api@v1.11.1", []string{"config/crd/bases", "bootstrap/kubeadm/config/crd/bases",
		"controlplane/kubeadm/config/crd/bases"}},
	{"sigs.k8s.io/kueue@v0.10.0", []string{"config/components/crd/bases"}},
	{"sigs.k8s.io/karpenter@v1.8.0", []string{"pkg/apis/crds"}},
	{"github.com/cert-manager/cert-manager@v1.19.0", []string{"deploy/crds"}},
	{"github.com/prometheus-operator/prometheus-operator@v0.76.0", []string{"example/prometheus-operator-crd"}},
	{"github.com/argoproj/argo-rollouts@v1.8.3", []string{"manifests/crds"}},
	{"github.com/kedacore/keda/v2@v2.18.0", []string{"config/crd/bases"}},
}

// download is the directory of a module of the module proxy.
func download(t *testing.T, module string) string {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // no module's: none is to be changed
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if json.Unmarshal(out, &m) != nil || m.Dir == "" {
		t.Fatalf("%s cannot be downloaded: %v %s", module, err, m.Error)
	}
	return m.Dir
}

// TestDefinitionsOfOthers installs the definitions that eight projects come with, all of them in
// one server, and runs gateway-api's own tests of its rules against it: they create some hundred
// objects, and ask which are refused, and with which words.
func TestDefinitionsOfOthers(t *testing.T) {
	if !*definitions {
		t.Skip("-definitions downloads some hundred megabytes; make definitions gives it")
	}
	s, n := serve(t), 0
	for _, p := range projects {
		root := download(t, p.module)
		for _, dir := range p.dirs {
			files, err := filepath.Glob(filepath.Join(root, dir, "*.yaml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s has no definitions in %s", p.module, dir)
			}
			for _, f := range files {
				n += s.install(f)
			}
		}
	}
	t.Logf("%d definitions are established", n)
	root := download(t, projects[0].module)
	cmd := exec.Command("go", "test", "-count=1", "-v", "./pkg/test/cel")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gateway-api's tests: %v\n%s", err, out)
	}
	t.Logf("%d tests of gateway-api's pass", strings.Count(string(out), "--- PASS"))
}

// install applies the definitions of a file, and waits for them. It returns how many they are.
func (s *served) install(file string) int {
	raw, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	n := strings.Count("\n"+string(raw), "\nkind: CustomResourceDefinition")
	if n == 0 {
		return 0 // a kustomization
	}
	if out := s.kubectl("apply", "--server-side", "-f", file); strings.Count(out, "serverside-applied") != n {
		s.t.Errorf("%s: %s", file, out)
	}
	out := s.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", file)
	if strings.Count(out, "condition met") != n {
		s.t.Errorf("%s: %s", file, out)
	}
	return n
}
