package mutate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/threelaws/threelaws/lab/mutate/switches"
)

// mainOfTests is what the tests of a package are compiled with, so that they serve as
// checks. A package with a TestMain of its own cannot be mutated.
const mainOfTests = `package %s

import (
	"os"
	"testing"

	%q
)

func TestMain(m *testing.M) { os.Exit(switches.Tests(m)) }
`

// mainFile is the name of the file that it is in.
const mainFile = "mutated_main_test.go"

// Tests has the tests of a package as checks: the leaves of those that have subtests,
// where deep says so, and of those the ones that only names, as -run does. It is nil for a
// package without tests.
func (b *Build) Tests(pkg string, deep bool, only string) (*Suite, error) {
	files, err := filepath.Glob(filepath.Join(b.root, pkg, "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	path, err := b.test(pkg, files[0])
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.root, pkg)
	args := []string{"-test.list", "^Test"}
	if deep {
		args = []string{"-test.short", "-test.v", "-test.run", only}
	}
	c := exec.Command(path, args...)
	c.Dir, c.Env = dir, append(os.Environ(), few)
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s fails without a mutation: %w\n%s", pkg, err, out)
	}
	names := testsOf(string(out))
	if len(names) == 0 {
		return nil, nil
	}
	checks := path + ".checks"
	if err := os.WriteFile(checks, []byte(strings.Join(names, "\n")), 0o644); err != nil {
		return nil, err
	}
	return &Suite{Name: pkg + " test ", Root: dir, Path: path, Args: []string{"-test.short"},
		Env: []string{few, switches.ChecksEnv + "=" + checks}}, nil
}

// few has recorded cases replayed under fewer schedules.
const few = "SCHEDULES=2"

// testsOf are the names of tests in what a test run prints, but for those that have
// subtests.
func testsOf(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		name, ran := strings.CutPrefix(strings.TrimSpace(line), "=== RUN   ")
		if !ran && !strings.HasPrefix(name, "Test") {
			continue
		}
		for parent := name; ; {
			i := strings.LastIndexByte(parent, '/')
			if i < 0 {
				break
			}
			parent = parent[:i]
			for j, n := range names {
				if n == parent {
					names = append(names[:j], names[j+1:]...)
					break
				}
			}
		}
		names = append(names, name)
	}
	return names
}
