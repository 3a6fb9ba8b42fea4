package repotest

import (
	"errors"
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/kubernetes"
)

type page struct{ name, text string }

// pages returns all pages, except test data.
func pages(t *testing.T) (out []page) {
	t.Helper()
	for _, f := range files(t) {
		if path.Ext(f) == ".md" && !strings.Contains(f, "testdata/") {
			out = append(out, page{f, read(t, f)})
		}
	}
	return out
}

var (
	links  = regexp.MustCompile(`\]\(([^)#]+)(?:#([^)]+))?\)`)
	titles = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	quoted = regexp.MustCompile("`([a-z]+)/([a-z-]+)`")

	mutantName = regexp.MustCompile(`"([a-z]+)/([a-z-]+)"`)
)

// Every relative link in the documentation leads to an existing file, and to an existing heading in it.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range links.FindAllStringSubmatch(p.text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := path.Join(path.Dir(p.name), m[1])
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", p.name, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(read(t, to)), m[2]) {
				t.Errorf("%s: %s has no title #%s", p.name, m[1], m[2])
			}
		}
	}
}

func anchors(text string) (out []string) {
	for _, m := range titles.FindAllStringSubmatch(text, -1) {
		a := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		out = append(out, regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(a, ""))
	}
	return out
}

// Every mutant that a page names exists. `x/y` is a mutant if x is a family of mutants.
func TestMutantsNamedAreThere(t *testing.T) {
	var families, names []string
	for _, f := range files(t) {
		if path.Dir(f) != "controllers/mutants" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		for _, m := range mutantName.FindAllStringSubmatch(read(t, f), -1) {
			families, names = append(families, m[1]), append(names, m[1]+"/"+m[2])
		}
	}
	n := 0
	for _, p := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(p.text, -1) {
			if !slices.Contains(families, m[1]) {
				continue
			}
			n++
			if !slices.Contains(names, m[1]+"/"+m[2]) {
				t.Errorf("%s: there is no mutant %s/%s", p.name, m[1], m[2])
			}
		}
	}
	if n == 0 {
		t.Error("no page names a mutant")
	}
}

// Go code on pages is part of a file that tests compile or run. The test of lab/examples runs the code of two pages.
func TestPagesShowWhatIsRun(t *testing.T) {
	var run strings.Builder
	for _, f := range []string{"scenarios/simtest/page_test.go", "cmd/threelaws/main.go", "cli/example_test.go",
		"controllerruntime/example_test.go", "agent/testdata/keeper/page_test.go"} {
		run.WriteString(read(t, f))
	}
	n := 0
	for _, p := range pages(t) {
		if p.name == "docs/use/conformance-test.md" || p.name == "docs/use/controller-runtime.md" {
			continue
		}
		for _, b := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(p.text, -1) {
			if n++; !strings.Contains(run.String(), b[1]) {
				t.Errorf("%s shows code that no test runs:\n%s", p.name, b[1])
			}
		}
	}
	if n < 2 {
		t.Errorf("%d blocks of Go", n)
	}
}

var bench = regexp.MustCompile(`(?:-bench|-fuzz|-run) '?\^?(Benchmark|Fuzz|Test)?([A-Z]\w+)`)

var command = regexp.MustCompile(`(?:cd (\w+) &&\s)?(?:\w+=\S+\s)*go (?:test|run) (?:-C (\w+) )?(?:-\S+ )*(\./[a-z./]+)|` +
	"`((?:fakeapi|sim|scenarios|lab|cli|upstream|kubectltest)/[\\w/.-]+\\.go)`")

// Every package, benchmark, fuzz target and test in a command on a page exists, and so do files that a page names.
func TestCommandsRunSomething(t *testing.T) {
	var names []string
	for _, f := range testFiles(t) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names = append(names, fn.Name.Name)
			}
		}
	}
	for _, p := range pages(t) {
		for _, m := range bench.FindAllStringSubmatch(p.text, -1) {
			if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, m[1]+m[2]) }) {
				t.Errorf("%s: %s: there is no such test, benchmark or fuzz target", p.name, m[0])
			}
		}
		for _, m := range command.FindAllStringSubmatch(p.text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1], m[2], m[3], m[4])); err != nil {
				t.Errorf("%s: %s: %v", p.name, m[0], err)
			}
		}
	}
}

// Every page under docs can be reached from the README through links.
func TestEveryPageIsReached(t *testing.T) {
	reached := []string{"README.md"}
	for i := 0; i < len(reached); i++ {
		for _, m := range links.FindAllStringSubmatch(read(t, reached[i]), -1) {
			to := path.Join(path.Dir(reached[i]), m[1])
			if path.Ext(to) == ".md" && !strings.Contains(m[1], "://") && !slices.Contains(reached, to) {
				reached = append(reached, to)
			}
		}
	}
	for _, p := range pages(t) {
		if strings.HasPrefix(p.name, "docs/") && !slices.Contains(reached, p.name) {
			t.Errorf("%s: no page that is reached from the README has a link to it", p.name)
		}
	}
}

// The program prints each message in the table of docs/use/messages.md.
func TestMessagesArePrinted(t *testing.T) {
	split := regexp.MustCompile(`"\s*\+\s*"`) // a long text is divided into several strings
	var code strings.Builder
	for _, f := range files(t) {
		if path.Ext(f) == ".go" && !strings.HasSuffix(f, "_test.go") && !strings.Contains(f, "testdata/") {
			code.WriteString(split.ReplaceAllString(read(t, f), ""))
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/use/messages.md"), -1)
	if len(rows) < 20 {
		t.Errorf("%d messages", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(code.String(), row[1]) {
			t.Errorf("docs/use/messages.md: nothing prints %q", row[1])
		}
	}
}

type action struct {
	Name        string
	Description string
	Author      string
	Branding    struct{ Icon, Color string }
	Inputs      map[string]struct {
		Description string
		Default     *string
		Required    bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, Uses, Shell, Run string
			WorkingDirectory           string `json:"working-directory"`
			With, Env                  map[string]any
		}
	}
}

func readAction(t *testing.T) (a action, text string) {
	t.Helper()
	text = read(t, "action.yml")
	if err := yaml.UnmarshalStrict([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return a, text
}

// action.yml uses and describes each of its inputs. It uses no action except actions/setup-go. It does not insert
// inputs into scripts, where they would be executed.
func TestAction(t *testing.T) {
	a, text := readAction(t)
	if a.Runs.Using != "composite" || a.Name == "" || a.Description == "" || len(a.Runs.Steps) == 0 {
		t.Errorf("no composite action: %+v", a)
	}
	var used []string
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
		used = append(used, m[1])
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("inputs.%s is used, and there is no such input", m[1])
		}
	}
	for name, in := range a.Inputs {
		if !slices.Contains(used, name) {
			t.Errorf("input %s is not used", name)
		}
		if in.Description == "" || in.Default == nil && !in.Required {
			t.Errorf("input %s has no description, or neither a default nor need of a value", name)
		}
	}
	var ids []string
	for _, s := range a.Runs.Steps {
		ids = append(ids, s.ID)
		switch {
		case (s.Uses == "") == (s.Run == ""):
			t.Errorf("step %q neither uses an action nor runs a script, or does both", s.Name)
		case s.Uses != "" && !strings.HasPrefix(s.Uses, "actions/setup-go@"):
			t.Errorf("step %q uses %s", s.Name, s.Uses)
		case s.Run != "" && s.Shell == "":
			t.Errorf("step %q names no shell", s.Name)
		case strings.Contains(s.Run, "${{"):
			t.Errorf("step %q pastes an expression into its script", s.Name)
		}
	}
	for name, out := range a.Outputs {
		m := regexp.MustCompile(`^\$\{\{ steps\.([a-z]+)\.outputs\.` + name + ` \}\}$`).FindStringSubmatch(out.Value)
		if m == nil || !slices.Contains(ids, m[1]) || !strings.Contains(text, `echo "`+name+"=") {
			t.Errorf("output %s comes from nowhere: %s", name, out.Value)
		}
	}
}

// The script passes its arguments unchanged, and prints the path of the JUnit file relative to the workspace.
func TestActionScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash, which GitHub's runners have and the script is written for: ", err)
	}
	a, _ := readAction(t)
	script := a.Runs.Steps[len(a.Runs.Steps)-1].Run
	// The stub prints its words, writes the file of --junit, and fails.
	const stub = "#!/bin/sh\nprintf '<%s>' \"$@\"\n[ -z \"$4\" ] || : >\"$4\"\nexit 3\n"
	for _, c := range []struct{ work, junit, want string }{
		{".", "out.xml", "junit=out.xml\nexit-code=3\n"},
		{"sub", "out.xml", "junit=sub/out.xml\nexit-code=3\n"},
		{"sub", "", "junit=\nexit-code=3\n"},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "threelaws-bin", "threelaws")
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o755), os.Mkdir(filepath.Dir(program), 0o755),
			os.WriteFile(program, []byte(stub), 0o755)); err != nil {
			t.Fatal(err)
		}
		output := filepath.Join(dir, "output")
		cmd := exec.CommandContext(t.Context(), bash, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = filepath.Join(dir, c.work)
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+output, "COMMAND=run", "WORK="+c.work,
			"PATHS=a $(false) *\nb", "ARGS=-n 5", "JUNIT="+c.junit)
		printed, err := cmd.CombinedOutput()
		words := "<run><--annotations><--junit><" + c.junit + "><-n><5><--><a><$(false)><*><b>"
		if cmd.ProcessState.ExitCode() != 3 || string(printed) != words {
			t.Errorf("%+v: %v\n%s\nnot\n%s", c, err, printed, words)
		}
		if got, err := os.ReadFile(output); err != nil || string(got) != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Few files name the version of Kubernetes, so that few must change for the next one. Modules, recorded cases and
// generated pages do not count.
func TestFewFilesNameTheVersion(t *testing.T) {
	var named []string
	version := regexp.MustCompile(`\bv?[01]\.` + regexp.QuoteMeta(strings.TrimPrefix(kubernetes.Version, "v1.")) + `\b`)
	for _, f := range files(t) {
		if base := path.Base(f); base == "go.mod" || base == "go.sum" || strings.Contains(f, "testdata/") ||
			strings.HasPrefix(f, "docs/evidence/") || strings.HasPrefix(f, "thirdparty/operators/") {
			continue
		}
		if version.MatchString(read(t, f)) {
			named = append(named, f)
		}
	}
	if len(named) > 10 {
		t.Errorf("%d files name Kubernetes %s: %q", len(named), kubernetes.Version, named)
	}
}
