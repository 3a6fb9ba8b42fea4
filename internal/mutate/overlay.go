package mutate

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Build is a program with all its mutations, compiled.
type Build struct {
	root, dir string
	overlay   string
}

// Overlay writes the mutated files to a directory, for the go command to take them
// in the place of the real ones.
func (p *Program) Overlay(root, dir string) (*Build, error) {
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(p.files)) {
		to := filepath.Join(dir, fmt.Sprintf("%03d_%s", i, filepath.Base(name)))
		if err := os.WriteFile(to, p.files[name], 0o644); err != nil {
			return nil, err
		}
		replace[name] = to
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	b := &Build{root: root, dir: dir, overlay: filepath.Join(dir, "overlay.json")}
	return b, os.WriteFile(b.overlay, raw, 0o644)
}

// Command builds a main package.
func (b *Build) Command(pkg string) (string, error) {
	out := filepath.Join(b.dir, filepath.Base(pkg))
	return out, b.goTool("build", "-overlay", b.overlay, "-o", out, pkg)
}

// Test builds the tests of a package; "" where it has none.
func (b *Build) Test(pkg string) (string, error) {
	out := filepath.Join(b.dir, filepath.Base(pkg)+".test")
	if err := b.goTool("test", "-c", "-overlay", b.overlay, "-o", out, "./"+pkg); err != nil {
		return "", err
	}
	if _, err := os.Stat(out); err != nil {
		return "", nil
	}
	return out, nil
}

func (b *Build) goTool(args ...string) error {
	c := exec.Command("go", args...)
	c.Dir = b.root
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return nil
}
