package overlay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Toolchain is an installed version of Go.
type Toolchain struct {
	Root    string // GOROOT
	Version string // "go1.26.8"
	Instead string // the version of the module's own toolchain, if that is unknown; otherwise ""

	modules string // GOMODCACHE
}

// In returns the toolchain that the go command selects for the module in a directory.
func In(ctx context.Context, dir string) (Toolchain, error) { return in(ctx, dir, os.Environ()) }

func in(ctx context.Context, dir string, environ []string) (Toolchain, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE")
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.Output()
	if err != nil {
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			err = errors.New(strings.TrimSpace(string(failed.Stderr)))
		}
		return Toolchain{}, fmt.Errorf("go env: %w", err)
	}
	var env struct{ GOROOT, GOVERSION, GOMODCACHE string }
	if err := json.Unmarshal(out, &env); err != nil {
		return Toolchain{}, fmt.Errorf("go env: %w", err)
	}
	version, _, _ := strings.Cut(env.GOVERSION, " ")
	return Toolchain{Root: env.GOROOT, Version: version, modules: env.GOMODCACHE}, nil
}

// For returns the toolchain that builds the module in a directory, and the path of its overlay. If the module's own
// toolchain is unknown, For returns the newest known release, unless go.mod requires a newer one. The go command
// downloads this release if necessary.
func For(ctx context.Context, dir, cache string) (t Toolchain, path string, err error) {
	if t, err = In(ctx, dir); err != nil {
		return t, "", err
	}
	path, err = Make(&t, cache)
	unknown := (*UnknownError)(nil)
	if !errors.As(err, &unknown) {
		return t, path, err
	}
	all := Versions()
	environ := append(os.Environ(), "GOTOOLCHAIN="+all[len(all)-1])
	list := exec.CommandContext(ctx, "go", "list", "-m") // go env does not read the version in go.mod
	list.Dir, list.Env = dir, environ
	if text, err := list.CombinedOutput(); err != nil {
		unknown.Instead = strings.TrimSpace(string(text))
		return t, "", unknown
	}
	known, err := in(ctx, dir, environ)
	if err != nil {
		return t, "", err
	}
	known.Instead = t.Version
	path, err = Make(&known, cache)
	return known, path, err
}

// Go returns the path of the toolchain's go command.
func (t Toolchain) Go() string { return filepath.Join(t.Root, "bin", "go") }

// source is a file of the toolchain that has a patch.
type source struct {
	name, text string
	patch      patch
}

func (t Toolchain) sources() ([]source, error) {
	all := patches
	in := filepath.Join(t.Root, "src", filepath.FromSlash(maps))
	entries, err := os.ReadDir(in)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(filepath.Join(in, name))
			if err != nil {
				return nil, err
			}
			edits := slices.DeleteFunc([]edit{hash, placed}, func(e edit) bool { return !e.applies(string(text)) })
			if name == "table.go" {
				edits = append(edits, tables...)
			}
			if len(edits) > 0 {
				all = append(all[:len(all):len(all)], patch{maps + "/" + name, edits})
			}
		}
	}
	var list []source
	for _, p := range all {
		text, err := os.ReadFile(filepath.Join(t.Root, "src", filepath.FromSlash(p.file)))
		if err != nil {
			return nil, err
		}
		list = append(list, source{p.file, string(text), p})
	}
	return list, nil
}

// leaveModules changes Root to a copy below the directory cache, if the toolchain is in the module cache.
func (t *Toolchain) leaveModules(cache string) error {
	if t.modules == "" || !strings.HasPrefix(t.Root, t.modules+string(filepath.Separator)) {
		return nil
	}
	from, to := t.Root, filepath.Join(cache, "toolchain", t.Version)
	t.Root = to
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	half, err := os.MkdirTemp(filepath.Dir(to), "."+t.Version)
	if err != nil {
		return err
	}
	defer os.RemoveAll(half)
	if err := os.CopyFS(half, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Rename(half, to); err != nil {
		if _, there := os.Stat(to); there != nil { // if it exists, another process has copied it
			return err
		}
	}
	return nil
}
