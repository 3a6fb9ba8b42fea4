package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/agent"
	"github.com/threelaws/threelaws/sim/trial"
)

// operator is a main below ./cmd with internal packages: client-go and its informers, cobra, errgroup, sync.Pool, the
// clock, math/rand, UUIDs, cron, and a file that each reconcile reads.
func operator(t *testing.T, args ...string) *agent.Binary {
	t.Helper()
	b := mainIn(t, filepath.Join("testdata", "operator"), "./cmd/operator", append(args, "--settings=/etc/keeper/mode")...)
	b.Projections = []agent.Projection{{Kind: "ConfigMap", Namespace: "default", Name: "m0", Path: "/etc/keeper"}}
	return b
}

// stamp has the words that the operator writes: identity, UUID, number, time, settings, and parts in the order of a map.
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

// Of two replicas one leads, and the other leads once that has crashed.
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

// The lives of a world do not draw the same values: a restarted process is another candidate.
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

// writers lists the processes that wrote Secrets.
func writers(w *trial.Trial) (all []string) {
	for i := range w.World.History.Len() {
		r := w.World.History.At(i)
		if r.Op == sim.Commit && r.Object.Kind == "Secret" && !slices.Contains(all, r.Process) {
			all = append(all, r.Process)
		}
	}
	return all
}

// A main whose dependencies lie in a vendor folder is built with them.
func TestVendorFolder(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":             "module example.com/bare\n\ngo 1.25.0\n\nrequire example.com/keep v1.0.0\n",
		"main.go":            "package main\n\nimport \"example.com/keep\"\n\nfunc main() { keep.Main() }\n",
		"vendor/modules.txt": "# example.com/keep v1.0.0\n## explicit; go 1.25.0\nexample.com/keep\n",
	} {
		at := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "bare", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.NewReplacer("package main", "package keep", "func main()", "func Main()").Replace(string(text)))
	if err := os.MkdirAll(filepath.Join(dir, "vendor", "example.com", "keep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vendor", "example.com", "keep", "keep.go"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	same(t, mainIn(t, dir, ".").Controller(keeper), 5, manyFaults)
}
