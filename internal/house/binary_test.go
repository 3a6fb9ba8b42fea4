package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mostBytes is how large the command may be, stripped.
const mostBytes = 43_000_000

// The command stays small. One call of a reflect.Type's Method anywhere in it makes the
// linker keep every method of every type of the API, a fifth of the binary.
func TestBinaryIsSmall(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "threelaws")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/threelaws")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("the stripped command has %d bytes, more than %d; go build -ldflags=-dumpdep names what has "+
			"ReflectMethod",
			info.Size(), mostBytes)
	}
	t.Logf("the stripped command has %d bytes", info.Size())
}
