// Command next moves the modules of this tree to another version of Kubernetes, and lists what differs:
//
//	go run -C lab ./cmd/next v1.37.0
//
// It changes the requirements in each go.mod, and the version in internal/kubernetes. Then it compiles, replays the
// recorded cases and runs upstream's tests. If the root module does not compile, the command ends. Any other step that
// fails does not stop the later ones. See docs/inside/next.md.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/kubernetes"
)

// modules lists the modules that require Kubernetes. A module comes after the modules that it requires.
var modules = []string{".", "controllerruntime", "browser", "lab", "kubectltest", "upstream", "examples/memcached",
	"examples/cronjob", "thirdparty"}

// compile is the step without which no later step can succeed.
const compile = "compile"

// steps lists the commands that run after the requirements have changed, each with its name and directory.
var steps = []struct{ what, dir, command string }{
	{compile, ".", "go build ./... && go vet ./..."},
	{"compile controllerruntime", "controllerruntime", "go vet ./..."},
	{"compile lab", "lab", "go vet ./..."},
	{"compile upstream", "upstream", "go vet ./..."},
	{"compile kubectltest", "kubectltest", "go vet ./..."},
	{"recorded cases", ".", "go test -count=1 ./fakeapi/... ./controllers/recorded"},
	{"upstream's controllers", "upstream", "go test -count=1 ./..."},
	{"kubectl", "kubectltest", "go test -count=1 ./..."},
	{"upstream's tests", ".", "make upstream-tests"},
}

func main() {
	if len(os.Args) != 2 || !regexp.MustCompile(`^v1\.\d+\.\d+$`).MatchString(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "next: name a version of Kubernetes: make next VERSION=v1.37.0")
		os.Exit(2)
	}
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, "next:", err)
		os.Exit(2)
	}
	failed := false
	for _, m := range modules {
		if err := require(m, os.Args[1]); err != nil {
			failed = true
			fmt.Println("FAILED  move " + m + ", which keeps its version: " + err.Error())
			continue
		}
		fmt.Println("moved   " + m)
	}
	if err := report(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "next:", err)
		os.Exit(2)
	}
	for _, s := range steps {
		text, err := run(s.dir, "bash", "-c", s.command)
		if err == nil {
			fmt.Println("ok      " + s.what)
			continue
		}
		failed = true
		fmt.Println("FAILED  " + s.what)
		for _, line := range differences(text) {
			fmt.Println("        " + line)
		}
		if s.what == compile {
			fmt.Println("The later steps need this one. Correct these places, then repeat the command.")
			break
		}
	}
	if failed {
		os.Exit(1)
	}
}

// require changes the requirements of a module. If there is an error, go.mod and go.sum stay unchanged.
func require(module, version string) (err error) {
	for _, name := range []string{"go.mod", "go.sum"} {
		file := filepath.Join(module, name)
		raw, readErr := os.ReadFile(file)
		if readErr != nil {
			return readErr
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, os.WriteFile(file, raw, 0o644))
			}
		}()
	}
	staging := "v0" + strings.TrimPrefix(version, "v1")
	text, err := run(module, "go", "mod", "edit", "-json")
	if err != nil {
		return errors.New(text)
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(text), &mod); err != nil {
		return err
	}
	was := ""
	for _, r := range mod.Require {
		if r.Path == "k8s.io/apimachinery" {
			was = r.Version
		}
	}
	edit := []string{"mod", "edit"}
	for _, r := range mod.Require {
		if r.Path == "k8s.io/kubernetes" {
			edit = append(edit, "-require="+r.Path+"@"+version)
		} else if strings.HasPrefix(r.Path, "k8s.io/") && r.Version == was {
			edit = append(edit, "-require="+r.Path+"@"+staging)
		}
	}
	if text, err := run(module, "go", edit...); err != nil {
		return errors.New(text)
	}
	if text, err := run(module, "go", "mod", "tidy"); err != nil {
		return errors.New("go mod tidy: " + text)
	}
	return nil
}

// report changes the version that the server reports.
func report(version string) error {
	file := filepath.Join("internal", "kubernetes", "version.go")
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	minor, old := strings.Split(version, ".")[1], strings.Split(kubernetes.Version, ".")[1]
	if minor == old {
		old = kubernetes.MinCompatibleMinor
	}
	text := strings.NewReplacer(kubernetes.Version, version, fmt.Sprintf("%q", old), fmt.Sprintf("%q", minor),
		fmt.Sprintf("%q", kubernetes.MinCompatibleMinor), fmt.Sprintf("%q", old)).Replace(string(raw))
	return os.WriteFile(file, []byte(text), 0o644)
}

func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// request matches the path of a request in the output of a test, up to the name of the resource.
var request = regexp.MustCompile(`\b(?:GET|POST|PUT|PATCH|DELETE) /(?:api|apis/[^/ ]+)/[^/ ]+/(?:namespaces/[^/ ]+/)?([a-z]+)`)

// differences sums up the output of a step. It returns the number of lines with a request for each resource, and the
// other lines that name a Go file or a failed test.
func differences(text string) (lines []string) {
	count := map[string]int{}
	for line := range strings.Lines(text) {
		if m := request.FindStringSubmatch(line); m != nil {
			count[m[1]]++
		} else if strings.Contains(line, ".go:") || strings.Contains(line, "FAIL") ||
			strings.Contains(line, "known failure") || strings.Contains(line, "has no folder") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) > 40 {
		lines = append(lines[:40], fmt.Sprintf("and %d lines more", len(lines)-40))
	}
	var kinds []string
	for resource, n := range count {
		kinds = append(kinds, fmt.Sprintf("%4d %s", n, resource))
	}
	slices.Sort(kinds)
	slices.Reverse(kinds)
	return append(kinds, lines...)
}
