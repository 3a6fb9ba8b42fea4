package overlay_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/overlay"
)

// goroot returns a copy of this test's toolchain, with the files that the overlay reads.
func goroot(t *testing.T) overlay.Toolchain {
	t.Helper()
	own, err := overlay.In(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	copied := overlay.Toolchain{Root: t.TempDir(), Version: own.Version}
	for _, dir := range []string{"runtime", "internal/runtime/maps", "internal/sync", "net", "os", "crypto/internal/sysrand", "math/rand", "syscall"} {
		if err := os.CopyFS(filepath.Join(copied.Root, "src", dir), os.DirFS(filepath.Join(own.Root, "src", dir))); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

func TestOwnToolchainIsKnown(t *testing.T) {
	own, err := overlay.In(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(overlay.Versions(), own.Version) {
		t.Errorf("%s builds this module and is not known: go run -C lab ./cmd/toolchains", own.Version)
	}
	cache := t.TempDir()
	path, err := overlay.Make(&own, cache)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := overlay.Make(&own, cache); again != path || err != nil {
		t.Errorf("the second Make returns %s, %v; the first returned %s", again, err, path)
	}
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the second Make wrote the overlay again: %v", err)
	}
}

// If the toolchain of a module is unknown, the newest known release builds the module, unless go.mod needs a newer one.
func TestUnknownToolchainIsReplaced(t *testing.T) {
	changed := goroot(t)
	if err := os.WriteFile(filepath.Join(changed.Root, "src", "runtime", "rand.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	own, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	versions, bin := overlay.Versions(), t.TempDir()
	script := `#!/bin/sh
case "$GOTOOLCHAIN $1" in
"` + versions[len(versions)-1] + ` list") if [ "$NEEDS" ]; then echo "go: go.mod requires go >= $NEEDS" >&2; exit 1; fi;;
"` + versions[len(versions)-1] + ` env") GOTOOLCHAIN=local exec ` + own + ` "$@";;
*) echo '{"GOROOT": "` + changed.Root + `", "GOVERSION": "go1.99.0"}';;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("GOTOOLCHAIN", "local")
	known, path, err := overlay.For(t.Context(), ".", t.TempDir())
	if err != nil || known.Instead != "go1.99.0" || known.Root == changed.Root || path == "" {
		t.Errorf("%+v, %q, %v", known, path, err)
	}
	t.Setenv("NEEDS", "1.99")
	want := "cannot build the module: go: go.mod requires go >= 1.99; set GOTOOLCHAIN to one that it knows: "
	if _, _, err := overlay.For(t.Context(), ".", t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// A toolchain with changed sources is refused, and the error contains its version.
func TestChangedToolchainIsRefused(t *testing.T) {
	changed := goroot(t)
	at := filepath.Join(changed.Root, "src", "runtime", "rand.go")
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, append(text, "\n// changed\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	changed.Version = "go1.99.0"
	_, err = overlay.Make(&changed, t.TempDir())
	var unknown *overlay.UnknownError
	if !errors.As(err, &unknown) {
		t.Fatalf("the error is %v", err)
	}
	for _, want := range []string{"go1.99.0", "runtime/rand.go", overlay.Versions()[0]} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not name %s", err, want)
		}
	}
}

// A lost file of the overlay is written again.
func TestLostFileIsWrittenAgain(t *testing.T) {
	own, err := overlay.In(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	path, err := overlay.Make(&own, cache)
	if err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(filepath.Dir(path), "runtime_rand.go.txt")
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	if _, err := overlay.Make(&own, cache); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lost); err != nil {
		t.Error(err)
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	own, err := overlay.In(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := overlay.Make(&own, file); err == nil || !strings.Contains(err.Error(), file) ||
		!strings.Contains(err.Error(), "set XDG_CACHE_HOME") {
		t.Errorf("the error is %v", err)
	}
}

// If the package does not have the test, nothing is built.
func TestNoTest(t *testing.T) {
	for _, test := range []struct{ pkg, name, want string }{
		{".", "TestNowhere", ". has no test TestNowhere"},
		{"./...", "TestNoTest", "name the package of TestNoTest"},
	} {
		_, err := overlay.Build{Dir: ".", Package: test.pkg, Test: test.name, Out: filepath.Join(t.TempDir(), "x"),
			Cache: t.TempDir()}.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.pkg, err)
		}
	}
}

// If the package is not a single main package, nothing is built.
func TestNoMain(t *testing.T) {
	for _, test := range []struct{ pkg, want string }{
		{".", "is package overlay, not main"},
		{"./...", "name the main package"},
		{"./none", "./none is no package"},
	} {
		_, err := overlay.Build{Dir: ".", Package: test.pkg, Out: filepath.Join(t.TempDir(), "x"), Cache: t.TempDir()}.
			Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.pkg, err)
		}
	}
}

// The error of a failed build contains the first lines of the compiler's output. If the disk is full, it is one line.
func TestFailedBuild(t *testing.T) {
	for _, test := range []struct {
		name, prints string
		lines        int
		want         string
	}{
		{"no space", "for i in $(seq 90); do echo \"mkdir /tmp/b$i: no space left on device\"; done", 1,
			"./testdata/hello does not build: the disk is full ("},
		{"killed", "true; kill -9 $PPID", 1, "./testdata/hello does not build: the go command printed nothing (signal: killed); "},
		{"many errors", "for i in $(seq 90); do echo \"main.go:$i: undefined\"; done", 22, " more lines"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			compiler := filepath.Join(dir, "compiler")
			script := "#!/bin/sh\ncase \"$*\" in *-V=full*) exec \"$@\";; esac\n(" + test.prints + ") >&2\nexit 1\n"
			if err := os.WriteFile(compiler, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			_, err := overlay.Build{Dir: ".", Package: "./testdata/hello", Out: filepath.Join(dir, "x"), Cache: dir,
				Flags: []string{"-p=1", "-toolexec=" + compiler}}.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				strings.Count(err.Error(), "\n") != test.lines-1 {
				t.Errorf("%v", err)
			}
		})
	}
}

// A program is built without the race detector, which needs cgo, even if GOFLAGS enables it.
func TestBuildWithoutRace(t *testing.T) {
	t.Setenv("GOFLAGS", "-race")
	_, err := overlay.Build{Dir: ".", Package: "./testdata/hello", Out: filepath.Join(t.TempDir(), "x"), Cache: t.TempDir(),
		Flags: []string{"-n"}}.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
}

// Like go test, Test accepts the flag -C as the first argument.
func TestDirectoryOfTest(t *testing.T) {
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-C", "testdata"}, {"-C=testdata"}, {"--C", here}, {"-C=" + here}, {"-v"}, nil} {
		cmd, err := overlay.Test(t.Context(), ".", t.TempDir(), append(args, "./hello"))
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		in, err := filepath.Abs(cmd.Dir)
		if err != nil {
			t.Fatal(err)
		}
		given := len(args) > 0 && args[0] != "-v"
		if (in == here) != given || slices.Contains(cmd.Args, "-C") {
			t.Errorf("%q: %v runs in %s", args, cmd.Args, in)
		}
	}
	if _, err := overlay.Test(t.Context(), ".", t.TempDir(), []string{"-C", "nowhere"}); err == nil ||
		err.Error() != "-C nowhere: no such directory" {
		t.Error(err)
	}
}

// If a program needs cgo, the error of its build names the packages that use cgo.
func TestBuildWithoutCgo(t *testing.T) {
	const uses = "package main\n\n// int one() { return 1; }\nimport \"C\"\n\n"
	for name, files := range map[string]map[string]string{
		"one file": {"c.go": uses + "var one = C.one()\n", "main.go": "package main\n\nfunc main() { _ = one }\n"},
		"all":      {"main.go": uses + "func main() { C.one() }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files["go.mod"] = "module example.com/main\n\ngo 1.25.0\n"
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := overlay.Build{Dir: dir, Package: ".", Out: filepath.Join(dir, "x"), Cache: t.TempDir()}.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "these packages use cgo: example.com/main; ") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A program is built without announcements if its controller-runtime cannot be changed.
func TestUnknownControllerRuntime(t *testing.T) {
	const reader, controller = "package internal\n\ntype CacheReader struct{}\n\nfunc (c *CacheReader) Get() {}\n",
		"package controller\n\ntype Controller struct{}\n\nfunc (c *Controller) Reconcile() {}\n"
	for _, reader := range []string{reader, ""} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module example.com/main\n\ngo 1.25.0\n\nrequire sigs.k8s.io/controller-runtime v0.0.0\n\n" +
				"replace sigs.k8s.io/controller-runtime => ./runtime\n",
			"main.go":        "package main\n\nimport \"sigs.k8s.io/controller-runtime/pkg/manager\"\n\nfunc main() { manager.Start() }\n",
			"runtime/go.mod": "module sigs.k8s.io/controller-runtime\n\ngo 1.25.0\n",
			"runtime/pkg/manager/manager.go": "package manager\n\nimport \"sigs.k8s.io/controller-runtime/pkg/internal/controller\"\n\n" +
				"func Start() { (&controller.Controller{}).Reconcile() }\n",
			"runtime/pkg/internal/controller/controller.go": controller,
			"runtime/pkg/cache/internal/cache_reader.go":    reader,
		} {
			at := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		built, err := overlay.Build{Dir: dir, Package: ".", Out: filepath.Join(t.TempDir(), "x"), Cache: t.TempDir()}.Run(t.Context())
		if err != nil || built.Announces {
			t.Errorf("announces: %v, error: %v", built.Announces, err)
		}
	}
}

// The overlay and the command also compile for systems on which programs cannot be hosted.
func TestOverlayCompilesElsewhere(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("the standard library and the command are compiled for three systems: with SOAK in the environment only")
	}
	own, err := overlay.In(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	path, err := overlay.Make(&own, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"linux/arm64", "darwin/arm64", "windows/amd64"} {
		name, arch, _ := strings.Cut(system, "/")
		for _, args := range [][]string{{"build", "-overlay", path, "threelaws/agent"},
			{"build", "-o", os.DevNull, "github.com/threelaws/threelaws/cmd/threelaws"}} {
			cmd := exec.CommandContext(t.Context(), "go", args...)
			cmd.Env = append(os.Environ(), "GOOS="+name, "GOARCH="+arch, "CGO_ENABLED=0")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s (built on %s): go %s: %v\n%s", system, runtime.GOOS, args, err, text)
			}
		}
	}
}
