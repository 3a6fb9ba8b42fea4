// Package release tests what a user installs: the command, and the modules as a module proxy serves them.
package release

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	path    = "github.com/threelaws/threelaws"
	version = "v0.1.0"
)

// program uses both modules that users import in tests.
const program = `package main

import (
	"fmt"

	"github.com/threelaws/threelaws/agent"
	"github.com/threelaws/threelaws/controllerruntime"
)

func main() { fmt.Println(agent.Subject{}.Time, controllerruntime.Options{}.Goroutines) }
`

// The command is installed, and the modules are required, only by their version: outside the tree, and without replace.
func TestModulesAreInstalled(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("what the command needs is unpacked and compiled once more: with SOAK in the environment only")
	}
	proxy, dir := t.TempDir(), t.TempDir()
	for _, module := range []string{"", "agent", "controllerruntime"} {
		serve(t, proxy, module)
	}
	cache := strings.TrimSpace(run(t, dir, nil, "env", "GOMODCACHE"))
	env := []string{"GOPROXY=file://" + proxy + ",file://" + cache + "/cache/download," + strings.TrimSpace(run(t, dir, nil, "env", "GOPROXY")),
		"GOMODCACHE=" + filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw -trimpath", "GONOSUMDB=" + path, "GOBIN=" + filepath.Join(dir, "bin"),
		"CGO_ENABLED=0", "GOWORK=off"}
	run(t, dir, env, "install", path+"/cmd/threelaws@"+version)
	out, err := exec.Command(filepath.Join(dir, "bin", "threelaws"), "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), version) {
		t.Errorf("threelaws version: %v\n%s", err, out)
	}
	user := filepath.Join(dir, "user")
	if err := os.Mkdir(user, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(user, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, user, env, "mod", "init", "example.com/user")
	run(t, user, env, "get", path+"/agent@"+version, path+"/controllerruntime@"+version)
	run(t, user, env, "build", "-o", filepath.Join(dir, "user.bin"), ".")
}

func run(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// serve copies a module of this tree into the directory of a proxy: the files that git tracks, without nested modules.
func serve(t *testing.T, proxy, module string) {
	t.Helper()
	root := filepath.Join("..", "..", module)
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Skip("the files of the module are those that git knows: ", err)
	}
	var nested []string
	files := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	for _, f := range files {
		if f != "go.mod" && filepath.Base(f) == "go.mod" {
			nested = append(nested, filepath.Dir(f)+"/")
		}
	}
	name := strings.TrimSuffix(path+"/"+module, "/")
	at := filepath.Join(proxy, name, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		if inAny(f, nested) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, f))
		if os.IsNotExist(err) {
			continue // deleted in the tree, but not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if f == "go.mod" {
			write(t, filepath.Join(at, version+".mod"), text)
		}
		entry, err := w.Create(name + "@" + version + "/" + f)
		if err == nil {
			_, err = entry.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(at, version+".zip"), b.Bytes())
	write(t, filepath.Join(at, version+".info"), []byte(`{"Version":"`+version+`"}`))
	write(t, filepath.Join(at, "list"), []byte(version+"\n"))
}

func inAny(file string, dirs []string) bool {
	for _, d := range dirs {
		if strings.HasPrefix(file, d) {
			return true
		}
	}
	return false
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
