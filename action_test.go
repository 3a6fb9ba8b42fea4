package threelaws_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// action is the shape of a composite action.
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

// The action is well-formed: it uses each of its inputs and no others, says what
// each is for, and leans on nobody's action but GitHub's own for Go. No script has
// an input pasted into it, where it would be run.
func TestAction(t *testing.T) {
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.UnmarshalStrict(text, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || a.Name == "" || a.Description == "" || len(a.Runs.Steps) == 0 {
		t.Errorf("no composite action: %+v", a)
	}
	var used []string
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
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
		if m == nil || !slices.Contains(ids, m[1]) || !strings.Contains(string(text), `echo "`+name+"=") {
			t.Errorf("output %s comes from nowhere: %s", name, out.Value)
		}
	}
}
