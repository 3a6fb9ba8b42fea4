package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build describes a program to build.
type Build struct {
	Dir     string   // the directory of the main module
	Package string   // the package, as an argument of go build: "./cmd/manager"
	Test    string   // the name of a test function, to build a test binary; "" to build a main package
	Out     string   // the path of the binary
	Cache   string   // the directory in which overlays are stored
	Flags   []string // additional flags of go build
	Env     []string // additional environment variables
}

// hijack is the Go file that is added to a main package, so that the agent runs main.
const hijack = "package main\n\nimport \"threelaws/agent\"\n\nfunc init() { agent.Host(main) }\n"

// connect is the file that is added to a test package. It connects package agent of this module, which the test
// imports, with package agent in the overlay.
const connect = `package %s

import (
	threelawsModule "github.com/threelaws/threelaws/agent"
	threelawsAgent "threelaws/agent"
)

func init() { threelawsModule.Connect(threelawsAgent.HostFunction) }
`

// Built describes a built program.
type Built struct {
	Toolchain
	Announces bool // the program announces the reconciles of controller-runtime
}

// Run builds an unmodified main or test with the overlay. It does not write into the program's module.
func (b Build) Run(ctx context.Context) (t Built, err error) {
	var base string
	t.Toolchain, base, err = For(ctx, b.Dir, b.Cache)
	if err != nil {
		return t, err
	}
	at, text, err := b.main(ctx, t.Toolchain)
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
	if err := os.WriteFile(extra, []byte(text), 0o644); err != nil {
		return t, err
	}
	files.Replace[at] = extra
	if changed, flags := b.announced(ctx, t.Toolchain, dir, files); changed != nil {
		// An error means that the changed module does not compile, or the program itself does not.
		if t.Announces = b.compile(ctx, t.Toolchain, dir, changed, flags) == nil; t.Announces {
			return t, nil
		}
	}
	return t, b.compile(ctx, t.Toolchain, dir, files, nil)
}

// withoutRace overrides GOFLAGS=-race, which needs cgo.
const withoutRace = "-race=false"

// compile runs the go command with the overlay, which is written to dir.
func (b Build) compile(ctx context.Context, t Toolchain, dir string, files *Files, flags []string) error {
	overlay := filepath.Join(dir, "overlay.json")
	if err := files.Write(overlay); err != nil {
		return err
	}
	args := []string{"build", withoutRace}
	if b.Test != "" {
		args = []string{"test", withoutRace, "-c", "-vet=off"} // go vet does not find packages that are only in the overlay
	}
	// Without debug information, the build is a fifth faster.
	args = append(args, "-overlay", overlay, "-o", b.Out, "-gcflags=all=-dwarf=false", "-ldflags=-s")
	args = append(append(args, b.Flags...), flags...)
	cmd := t.command(ctx, b.Dir, append(args, b.Package)...)
	cmd.Env = append(cmd.Env, b.Env...)
	text, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return b.cgo(ctx, t, b.failed(string(text), err))
	}
	return nil
}

// cgo adds the packages of the program that use cgo to the error of a failed build, because check builds without cgo.
func (b Build) cgo(ctx context.Context, t Toolchain, failed error) error {
	cmd := t.command(ctx, b.Dir, "list", withoutRace, "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}", b.Package)
	cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		first, text, _ := strings.Cut(failed.Error(), "\n")
		failed = errors.New(strings.TrimSpace(fmt.Sprintf(
			"%s (threelaws builds without cgo, and these packages use cgo: %s; give them files for CGO_ENABLED=0)\n%s",
			strings.TrimSuffix(first, ":"), strings.Join(strings.Fields(string(out)), ", "), text)))
	}
	return failed
}

// main returns the path and the content of the file that is added to the package.
func (b Build) main(ctx context.Context, t Toolchain) (at, text string, err error) {
	var stderr bytes.Buffer
	cmd := t.command(ctx, b.Dir, "list", withoutRace, "-json=Name,Dir,TestGoFiles,XTestGoFiles", b.Package)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", "", b.cgo(ctx, t, fmt.Errorf("%s is no package: %s", b.Package, strings.TrimSpace(stderr.String())))
	}
	var p struct {
		Name, Dir                 string
		TestGoFiles, XTestGoFiles []string
	}
	d := json.NewDecoder(bytes.NewReader(out))
	if err := d.Decode(&p); err != nil {
		return "", "", fmt.Errorf("go list %s: %w", b.Package, err)
	}
	if d.More() {
		what := "the main package"
		if b.Test != "" {
			what = "the package of " + b.Test
		}
		return "", "", errors.New(b.Package + " is more than one package: name " + what)
	}
	if b.Test != "" {
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			if in := holds(filepath.Join(p.Dir, name), b.Test); in != "" {
				return filepath.Join(p.Dir, "zz_threelaws_test.go"), fmt.Sprintf(connect, in), nil
			}
		}
		return "", "", fmt.Errorf("%s has no test %s", b.Package, b.Test)
	}
	if p.Name != "main" {
		return "", "", fmt.Errorf("%s is package %s, not main", b.Package, p.Name)
	}
	return filepath.Join(p.Dir, "zz_threelaws.go"), hijack, nil
}

// holds returns the package name of a file if the file declares a function, otherwise "".
func holds(file, function string) string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return "" // go test reports the error
	}
	for _, d := range f.Decls {
		if d, is := d.(*ast.FuncDecl); is && d.Recv == nil && d.Name.Name == function {
			return f.Name.Name
		}
	}
	return ""
}

// Variable is an environment variable that is set in tests with the overlay.
const Variable = "THREELAWS_OVERLAY"

// Test returns a go test command that uses the overlay, for the module in a directory. It does not change CGO_ENABLED,
// because the race detector needs cgo. Like for go test, the first argument may be -C with a directory.
func Test(ctx context.Context, dir, cache string, args []string) (*exec.Cmd, error) {
	if to, rest, given := chdir(args); given {
		if args = rest; filepath.IsAbs(to) {
			dir = to
		} else {
			dir = filepath.Join(dir, to)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("-C %s: no such directory", to)
		}
	}
	t, path, err := For(ctx, dir, cache)
	if err != nil {
		return nil, err
	}
	cmd := t.command(ctx, dir, append([]string{"test", "-vet=off", "-overlay", path}, args...)...)
	cmd.Env = append(cmd.Env, "CGO_ENABLED="+os.Getenv("CGO_ENABLED"), Variable+"="+path)
	return cmd, nil
}

// chdir splits the flag -C off arguments of the go command, which accepts this flag only as the first one.
func chdir(args []string) (dir string, rest []string, given bool) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return "", args, false
	}
	name, dir, has := strings.Cut(strings.TrimPrefix(args[0], "-"), "=")
	switch {
	case strings.TrimPrefix(name, "-") != "C":
		return "", args, false
	case has:
		return dir, args[1:], true
	case len(args) > 1:
		return args[1], args[2:], true
	}
	return "", args, false
}

func (t Toolchain) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.Go(), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOROOT="+t.Root, "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS"))
	if !strings.HasPrefix(t.Version, "go1.25") {
		cmd.Env = append(cmd.Env, "GOEXPERIMENT=norandomizedheapbase64") // so that addresses are equal in all processes
	}
	return cmd
}

// mostCompiled is the maximal number of compiler output lines in an error.
const mostCompiled = 20

func (b Build) failed(text string, cause error) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%s does not build: the go command printed nothing (%w); if it was killed, there may be too little memory",
			b.Package, cause)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "no space left on device") {
			return fmt.Errorf("%s does not build: the disk is full (%s): free some space, or set GOCACHE and TMPDIR to another disk",
				b.Package, strings.TrimSpace(line))
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if more := len(lines) - mostCompiled; more > 1 {
		lines = append(lines[:mostCompiled], fmt.Sprintf("... %d more lines", more))
	}
	return errors.New(b.Package + " does not build:\n" + strings.Join(lines, "\n"))
}
