package cli

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
)

// failuresDir is where failures are written unless --out says otherwise. Its
// name hides it from run, and git is told to leave it out: what an exploration
// found is nobody's scenario until it is moved among them.
const failuresDir = ".threelaws"

// makeOut makes the directory that failures are written to.
func makeOut(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil || dir != failuresDir {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644)
}

// writeFailure writes the file that replays a failure into a directory. Its name tells the scenario and
// the law, and its last four digits tell failures apart.
func writeFailure(dir string, f *scenarios.File, failing *scenarios.Counterexample) (string, error) {
	if err := makeOut(dir); err != nil {
		return "", usage("--out: %v", err)
	}
	sum := fnv.New32a()
	sum.Write(failing.File)
	base := strings.TrimSuffix(filepath.Base(f.Name), extension)
	path := filepath.Join(dir, fmt.Sprintf("%s-%s-%04x%s", base, failing.Law, sum.Sum32()&0xffff, extension))
	if err := failing.WriteFile(path); err != nil {
		return "", usage("--out: %v", err)
	}
	return path, nil
}
