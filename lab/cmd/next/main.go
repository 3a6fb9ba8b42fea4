// Command next moves the modules of this tree to another version of Kubernetes, and lists what differs:
//
//	go run -C lab ./cmd/next v1.37.0
//
// It changes the requirements in each go.mod, and the version in internal/kubernetes. Then it compiles, replays the
// recorded cases and runs upstream's tests. A step that fails does not stop the later ones. See docs/inside/next.md.
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

// steps lists the commands that run after the requirements have changed, each with its name and directory.
var steps = []struct{ what, dir, command string }{
	{"compile", ".", "go build ./... && go vet ./..."},
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
	if err := move(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "next:", err)
		os.Exit(2)
	}
	failed := false
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
	}
	if failed {
		os.Exit(1)
	}
}

// move changes the requirements of all modules and the version that the server reports.
func move(version string) error {
	staging := "v0" + strings.TrimPrefix(version, "v1")
	was := map[string]bool{kubernetes.Version: true, "v0" + strings.TrimPrefix(kubernetes.Version, "v1"): true}
	for _, m := range modules {
		text, err := run(m, "go", "mod", "edit", "-json")
		if err != nil {
			return fmt.Errorf("%s: %s", m, text)
		}
		var mod struct {
			Require []struct{ Path, Version string }
		}
		if err := json.Unmarshal([]byte(text), &mod); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		edit := []string{"mod", "edit"}
		for _, r := range mod.Require {
			switch {
			case !strings.HasPrefix(r.Path, "k8s.io/") || !was[r.Version]:
			case strings.HasPrefix(r.Version, "v1."):
				edit = append(edit, "-require="+r.Path+"@"+version)
			default:
				edit = append(edit, "-require="+r.Path+"@"+staging)
			}
		}
		if text, err := run(m, "go", edit...); err != nil {
			return fmt.Errorf("%s: %s", m, text)
		}
		if text, err := run(m, "go", "mod", "tidy"); err != nil {
			return fmt.Errorf("%s: go mod tidy: %s", m, text)
		}
		fmt.Println("moved   " + m)
	}
	file := filepath.Join("internal", "kubernetes", "version.go")
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	minor := strings.Split(version, ".")[1]
	old := strings.Split(kubernetes.Version, ".")[1]
	text := strings.NewReplacer(kubernetes.Version, version, fmt.Sprintf("%q", old), fmt.Sprintf("%q", minor),
		fmt.Sprintf("%q", kubernetes.MinCompatibleMinor), fmt.Sprintf("%q", old)).Replace(string(raw))
	return errors.Join(os.WriteFile(file, []byte(text), 0o644))
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
		} else if strings.Contains(line, ".go:") || strings.Contains(line, "--- FAIL") {
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
