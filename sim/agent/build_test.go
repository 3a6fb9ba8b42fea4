package agent_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/sim/agent"
)

var built sync.Map // directory and package -> func() string

// program builds a module below testdata, once, with the overlay.
func program(t testing.TB, module string, args ...string) *agent.Binary {
	t.Helper()
	return mainIn(t, filepath.Join("testdata", module), ".", args...)
}

// mainIn is program for a main package of a module in any directory.
func mainIn(t testing.TB, in, pkg string, args ...string) *agent.Binary {
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
		b := overlay.Build{Dir: in, Package: pkg, Out: filepath.Join(dir, "main"),
			Cache: filepath.Join(cache, "threelaws"), Flags: []string{"-tags", "overlaid"}}
		if _, err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return dir
	})
	once, _ := built.LoadOrStore(in+" "+pkg, build)
	dir := once.(func() string)()
	b := &agent.Binary{Path: filepath.Join(dir, "main"), Args: args}
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
