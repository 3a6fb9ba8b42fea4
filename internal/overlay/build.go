package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build says what to build.
type Build struct {
	Dir     string   // of the main module
	Package string   // "./cmd/manager"
	Out     string   // the binary
	Cache   string   // of overlays
	Flags   []string // further flags of go build
	Env     []string // further environment
}

// hijack is one more file of package main.
const hijack = "package main\n\nimport \"threelaws/agent\"\n\nfunc init() { agent.Host(main) }\n"

// Run builds an unmodified main as a hosted program. Nothing is written into its module.
func (b Build) Run(ctx context.Context) (Toolchain, error) {
	t, err := In(ctx, b.Dir)
	if err != nil {
		return t, err
	}
	base, err := Make(&t, b.Cache)
	if err != nil {
		return t, err
	}
	at, err := b.main(ctx, t)
	if err != nil {
		return t, err
	}
	files, err := Read(base)
	if err != nil {
		return t, err
	}
	dir, err := os.MkdirTemp("", "threelaws-build")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	extra := filepath.Join(dir, "main.go")
	if err := os.WriteFile(extra, []byte(hijack), 0o644); err != nil {
		return t, err
	}
	files.Replace[filepath.Join(at, "zz_threelaws.go")] = extra
	overlay := filepath.Join(dir, "overlay.json")
	if err := files.Write(overlay); err != nil {
		return t, err
	}
	args := append([]string{"build", "-overlay", overlay, "-o", b.Out}, b.Flags...)
	cmd := t.command(ctx, b.Dir, append(args, b.Package)...)
	cmd.Env = append(cmd.Env, b.Env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		return t, fmt.Errorf("%s does not build:\n%s", b.Package, strings.TrimSpace(string(text)))
	}
	return t, nil
}

// main returns the directory of the main package.
func (b Build) main(ctx context.Context, t Toolchain) (string, error) {
	var stderr bytes.Buffer
	cmd := t.command(ctx, b.Dir, "list", "-json=Name,Dir", b.Package)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s is no package: %s", b.Package, strings.TrimSpace(stderr.String()))
	}
	var p struct{ Name, Dir string }
	d := json.NewDecoder(bytes.NewReader(out))
	if err := d.Decode(&p); err != nil {
		return "", fmt.Errorf("go list %s: %w", b.Package, err)
	}
	if d.More() {
		return "", errors.New(b.Package + " is more than one package: name the main package")
	}
	if p.Name != "main" {
		return "", fmt.Errorf("%s is package %s, not main", b.Package, p.Name)
	}
	return p.Dir, nil
}

// command is a command of the toolchain, in a module.
func (t Toolchain) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.Go(), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOROOT="+t.Root, "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS"))
	if !strings.HasPrefix(t.Version, "go1.25") {
		cmd.Env = append(cmd.Env, "GOEXPERIMENT=norandomizedheapbase64") // addresses are equal in all processes
	}
	return cmd
}
