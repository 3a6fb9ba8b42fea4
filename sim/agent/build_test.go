package agent_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/sim/agent"
)

var built sync.Map // directories -> func() string

// program builds a module below testdata, once, with the overlay.
func program(t testing.TB, module string, args ...string) *agent.Binary {
	t.Helper()
	return programIn(t, filepath.Join("testdata", module), args...)
}

// programIn is program for a module in any directory.
func programIn(t testing.TB, in string, args ...string) *agent.Binary {
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
		b := overlay.Build{Dir: in, Package: ".", Out: filepath.Join(dir, "main"),
			Cache: filepath.Join(cache, "threelaws")}
		if _, err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return dir
	})
	once, _ := built.LoadOrStore(in, build)
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
