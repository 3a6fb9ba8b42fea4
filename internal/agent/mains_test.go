package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// operator is a main package in ./cmd with internal packages. It uses the informers of client-go, cobra, errgroup,
// sync.Pool, the clock, math/rand, UUIDs, cron, and a file that each reconcile reads.
func operator(t *testing.T, args ...string) *agent.Binary {
	t.Helper()
	b := mainIn(t, filepath.Join("testdata", "operator"), "./cmd/operator", append(args, "--settings=/etc/keeper/mode")...)
	b.Projections = []agent.Projection{{Kind: "ConfigMap", Namespace: "default", Name: "m0", Path: "/etc/keeper"}}
	return b
}

// stamp returns the words that the operator writes into a Secret: identity, UUID, number, time, settings, parts in map
// order.
func stamp(w *trial.Trial, name string) []string {
	return strings.Fields(string(secret(w, name).Data["stamp"]))
}

func TestClientGo(t *testing.T) {
	c := operator(t).Controller(keeper)
	same(t, c, 20, manyFaults)
	w := run(t, c, sim.Zero{}, nil)
	defer w.Stop()
	if s := stamp(w, "m1"); len(s) != 5 || !strings.HasPrefix(s[4], "quiet") {
		t.Errorf("the stamp of the Secret is %q, without the content of the file", s)
	}
	if one, other := stamp(w, "m1"), stamp(w, "m2"); one[0] != other[0] || one[1] == other[1] || one[2] == other[2] {
		t.Errorf("two Secrets have the stamps %q and %q", one, other)
	}
}

// One of two replicas is elected as leader. When it crashes, the other replica is elected.
func TestElectedPair(t *testing.T) {
	c := operator(t, "--leader-elect").Controller(keeper)
	same(t, c, 10, map[string]int{"crash": 1}, "keeper-2")
	w := run(t, c, sim.Zero{}, nil, "keeper-2")
	defer w.Stop()
	first := stamp(w, "m1")[0]
	if by := writers(w); !slices.Equal(by, []string{"keeper"}) {
		t.Errorf("Secrets are written by %v", by)
	}
	w.Cluster.Process("keeper").Crash(false)
	must(t, create(w, configMap("later")))
	w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
	if by := writers(w); !slices.Equal(by, []string{"keeper", "keeper-2"}) {
		t.Errorf("Secrets are written by %v", by)
	}
	if second := stamp(w, "later")[0]; second == first {
		t.Errorf("both replicas have the identity %s", first)
	}
}

// The lives of a world get different random values, so a restarted process has another identity.
func TestLivesDrawDifferentValues(t *testing.T) {
	w := run(t, operator(t).Controller(keeper), sim.Zero{}, nil)
	defer w.Stop()
	first := stamp(w, "m1")[0]
	w.Cluster.Process("keeper").Crash(true)
	must(t, create(w, configMap("later")))
	w.Settle(trial.Limits{Writes: 1000, Steps: 20_000})
	if second := stamp(w, "later")[0]; second == first {
		t.Errorf("both lives have the identity %s", first)
	}
}

// writers lists the processes that wrote Secrets, in order.
func writers(w *trial.Trial) (all []string) {
	for i := range w.World.History.Len() {
		r := w.World.History.At(i)
		if r.Op == sim.Commit && r.Object.Kind == "Secret" && !slices.Contains(all, r.Process) {
			all = append(all, r.Process)
		}
	}
	return all
}

// A main with dependencies in a vendor directory is built with these dependencies. Its module has the settings of Go 1.21.
func TestVendorFolder(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":             "module example.com/bare\n\ngo 1.25.0\n\ngodebug default=go1.21\n\nrequire example.com/keep v1.0.0\n",
		"main.go":            "package main\n\nimport \"example.com/keep\"\n\nfunc main() { keep.Main() }\n",
		"vendor/modules.txt": "# example.com/keep v1.0.0\n## explicit; go 1.25.0\nexample.com/keep\n",
	}
	keep := strings.NewReplacer("package main", "package keep", "func main()", "func Main()")
	sources, err := filepath.Glob(filepath.Join("testdata", "bare", "*.go"))
	must(t, err)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		must(t, err)
		files["vendor/example.com/keep/"+filepath.Base(source)] = keep.Replace(string(text))
	}
	for path, text := range files {
		at := filepath.Join(dir, path)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, []byte(text), 0o644))
	}
	same(t, mainIn(t, dir, ".").Controller(keeper), 5, manyFaults)
}

// matrix contains the releases of controller-runtime with which a kubebuilder main is built.
var matrix = []string{"v0.17.6", "v0.18.7", "v0.19.7", "v0.20.4", "v0.21.0", "v0.22.4", "v0.23.3", "v0.24.1", "v0.25.2"}

// With each release, the runs of one main are repeatable, and its planted bug violates the same law with the same text.
func TestMatrix(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("nine releases of controller-runtime are downloaded and built: set SOAK to run it")
	}
	for _, version := range matrix {
		t.Run(version, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "manager")
			must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "manager"))))
			goMod := "module example.com/manager\n\ngo 1.25.0\n\nrequire sigs.k8s.io/controller-runtime " + version + "\n"
			must(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod), 0o644))
			must(t, os.Remove(filepath.Join(dir, "go.sum")))
			tidy := exec.CommandContext(t.Context(), "go", "mod", "tidy")
			tidy.Dir = dir
			if text, err := tidy.CombinedOutput(); err != nil {
				t.Fatalf("go mod tidy: %v\n%s", err, text)
			}
			same(t, mainIn(t, dir, ".").Controller(keeper), 20, manyFaults)
			adopts(t, func() *agent.Binary { return mainIn(t, dir, ".") })
			panics(t, mainIn(t, dir, "."))
		})
	}
}

// A main that adopts for a terminating owner violates a law. A main that checks deletionTimestamp does not.
func TestAdoption(t *testing.T) { adopts(t, func() *agent.Binary { return program(t, "manager") }) }

// adoption is the text of the violation by a manager that does not check deletionTimestamp.
const adoption = "status-only-when-terminating: adopted for cm/terminating, which was terminating when the world had settled before"

// adopts runs the manager with and without the check. A user orphans the Secrets of two ConfigMaps, one terminating.
func adopts(t *testing.T, program func() *agent.Binary) {
	t.Helper()
	world := func(env ...string) *trial.Trial {
		b := program()
		b.Env = env
		w := run(t, b.Controller(keeper), sim.Zero{}, nil)
		settle := func() { w.Settle(trial.Limits{Writes: 1000, Steps: 20_000}) }
		names := []string{"stays", "terminating"}
		for _, name := range names {
			must(t, create(w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
				Finalizers: []string{"example.com/hold"}}}))
		}
		settle()
		terminating := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "terminating"}}
		must(t, request(w, fakeapi.Delete, terminating))
		settle()
		for _, name := range names {
			orphan := secret(w, name).DeepCopy()
			orphan.OwnerReferences = nil
			must(t, request(w, fakeapi.Update, orphan))
		}
		settle()
		return w
	}
	w := world()
	defer w.Stop()
	if b := w.Broken(); b != nil {
		t.Errorf("the variant that checks deletionTimestamp: %v", b)
	}
	for name, adopted := range map[string]bool{"stays": true, "terminating": false} {
		if (metav1.GetControllerOf(secret(w, name)) != nil) != adopted {
			t.Errorf("the Secret %s is adopted: %t, want %t", name, !adopted, adopted)
		}
	}
	careless := world("CARELESS=1")
	defer careless.Stop()
	if b := careless.Broken(); b == nil || b.Law.Name+": "+b.Text != adoption {
		t.Errorf("the variant that does not check it: %v", b)
	}
}

func secret(w *trial.Trial, name string) *corev1.Secret {
	return w.Server.Lookup(w.Server.KindNamed("secret"), "default", name).(*corev1.Secret)
}
