package agent_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/sim/agent"
)

// kubeconfig is what the world's only client knows of it.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: w, cluster: {server: "http://apiserver"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: w, user: u, namespace: default}}]
current-context: c
`

var built sync.Map // directories below testdata -> func() string

// program builds a module below testdata, once, with the overlay.
func program(t testing.TB, module string, args ...string) *agent.Binary {
	t.Helper()
	build := sync.OnceValue(func() string {
		dir, err := os.MkdirTemp("", "agent")
		if err != nil {
			t.Fatal(err)
		}
		temporary = append(temporary, dir)
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		b := overlay.Build{Dir: filepath.Join("testdata", module), Package: ".", Out: filepath.Join(dir, "main"),
			Cache: filepath.Join(cache, "threelaws")}
		if _, err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(kubeconfig), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	})
	once, _ := built.LoadOrStore(module, build)
	dir := once.(func() string)()
	b := &agent.Binary{Path: filepath.Join(dir, "main"), Args: args, Dir: dir,
		Env: []string{"KUBECONFIG=" + filepath.Join(dir, "kubeconfig")}}
	t.Cleanup(b.Close)
	return b
}

var temporary []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range temporary {
		_ = os.RemoveAll(dir) // a folder of the system's temporary files
	}
	os.Exit(code)
}
