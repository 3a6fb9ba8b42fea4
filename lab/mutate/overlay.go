package mutate

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Build is a program with all its mutations, compiled.
type Build struct {
	root, dir string
	replace   map[string]string // by absolute name
}

// Overlay writes the mutated files to a directory, for the go command to take them
// in the place of the real ones.
func (p *Program) Overlay(root, dir string) (*Build, error) {
	b := &Build{root: root, dir: dir, replace: map[string]string{
		filepath.Join(root, "lab", "go.mod"): "", // so that mutated files can import the switches
	}}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if err := b.put(name, p.files[name]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// put has a file be another, or be there.
func (b *Build) put(name string, src []byte) error {
	to := filepath.Join(b.dir, fmt.Sprintf("%03d_%s", len(b.replace), filepath.Base(name)))
	b.replace[name] = to
	return os.WriteFile(to, src, 0o644)
}

// Command builds a main package.
func (b *Build) Command(pkg string) (string, error) {
	out := filepath.Join(b.dir, filepath.Base(pkg))
	return out, b.goTool("build", "-o", out, pkg)
}

// test builds the tests of a package, one of whose files is given.
func (b *Build) test(pkg, file string) (string, error) {
	dir := filepath.Join(b.root, pkg)
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	src := fmt.Appendf(nil, mainOfTests, f.Name.Name, switchesPath)
	if err := b.put(filepath.Join(dir, mainFile), src); err != nil {
		return "", err
	}
	out := filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
	return out, b.goTool("test", "-c", "-o", out, dir)
}

// goTool runs a command of the go tool, with the overlay.
func (b *Build) goTool(command string, args ...string) error {
	raw, err := json.Marshal(map[string]any{"Replace": b.replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o644); err != nil {
		return err
	}
	c := exec.Command("go", append([]string{command, "-overlay", overlay}, args...)...)
	if c.Dir = b.root; command == "test" {
		c.Args = slices.Insert(c.Args, 2, "-vet=off")
		c.Dir = args[len(args)-1] // its own module has the packages that it imports
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s %v: %w\n%s", command, args, err, out)
	}
	return nil
}
