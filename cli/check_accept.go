package cli

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// accepted is a known finding of threelaws.yaml: it is printed, and fails nothing.
type accepted struct {
	Law    string `yaml:"law"`
	Case   string `yaml:"case"`   // "" for each
	Object string `yaml:"object"` // words of the violation's text, as "svc/web"; "" for any
	Reason string `yaml:"reason"`

	line int
	met  bool
}

// UnmarshalYAML reads an entry, and looks at what it says.
func (a *accepted) UnmarshalYAML(n *yaml.Node) error {
	type plain accepted
	fields := []string{"law", "case", "object", "reason"}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; !slices.Contains(fields, name) {
			return fmt.Errorf("unknown field %s%s", name, suggest(name, fields))
		}
	}
	if err := n.Decode((*plain)(a)); err != nil {
		return err
	}
	a.line = n.Line
	var names []string
	for _, l := range law.All() {
		names = append(names, l.Name)
	}
	if !slices.Contains(names, a.Law) {
		return fmt.Errorf("unknown law %s%s", a.Law, suggest(a.Law, names))
	}
	if a.Reason == "" {
		return fmt.Errorf("%s is accepted without a reason", a.Law)
	}
	return nil
}

// accepts is the entry for a failure in a case, nil for none.
func (c *checking) accepts(in string, f *scenarios.Counterexample) *accepted {
	for _, a := range c.Accept {
		if a.Law == f.Law && (a.Case == "" || a.Case == in) && strings.Contains(f.Text, a.Object) {
			a.met = true
			return a
		}
	}
	return nil
}

// accept takes the known findings out of an exploration. What does not settle is counted there as well.
func (c *checking) accept(j *caseJSON, x *scenarios.Exploration) {
	x.Failures = slices.DeleteFunc(x.Failures, func(f *scenarios.Counterexample) bool {
		a := c.accepts(j.Name, f)
		if a == nil {
			return false
		}
		j.Accepted = append(j.Accepted, a.Law+": "+a.Reason)
		j.known = append(j.known, check.Known{Law: a.Law, Reason: a.Reason})
		if a.Law == law.ByID(law.ComeToRest).Name {
			x.Unsettled = 0
		}
		return true
	})
	if len(x.Failures) == 0 && len(j.Accepted) > 0 {
		x.Failed = 0
	}
}

// unmet notes what is accepted and did not occur, where all cases were tried.
func (c *checking) unmet() {
	if len(c.cases) > 0 || c.replay != "" {
		return
	}
	for _, a := range c.Accept {
		if !a.met {
			note := fmt.Sprintf("%s:%d: accept: no violation of %s occurred that this entry is for: remove it if it is fixed",
				settingsFile, a.line, a.Law)
			c.note(note)
			c.report.Notes = append(c.report.Notes, note)
		}
	}
}
