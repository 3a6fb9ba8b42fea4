package house

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

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

// action.yml uses each of its inputs and describes it. It uses no other action than actions/setup-go, and pastes no
// input into a script, where it would be run.
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

// The script passes its words as they are, and names the JUnit file relative to the workspace.
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
