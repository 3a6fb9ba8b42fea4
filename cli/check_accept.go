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
	Object string `yaml:"object"` // words of Counterexample.Said, as "svc/web"; "" for any
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
	if a.Case != "" && !slices.Contains(check.Names, a.Case) {
		return fmt.Errorf("unknown case %s%s", a.Case, suggest(a.Case, check.Names))
	}
	if a.Reason == "" {
		return fmt.Errorf("%s is accepted without a reason", a.Law)
	}
	return nil
}

// acceptedAs returns the entry for a violation in a case, nil for none.
func acceptedAs(all []*accepted, in string, f *scenarios.Counterexample) *accepted {
	for _, a := range all {
		if a.Law == f.Law && (a.Case == "" || a.Case == in) && strings.Contains(f.Said(), a.Object) {
			a.met = true
			return a
		}
	}
	return nil
}
