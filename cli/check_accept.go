package cli

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
)

// settingsFile is the file of the repository that has settings.
const settingsFile = "threelaws.yaml"

// accepted is a known finding of threelaws.yaml, or of --accept.
type accepted struct {
	check.Accept
	line int // of threelaws.yaml; 0 for a flag
	met  bool
}

// UnmarshalYAML reads an entry, and looks at what it says.
func (a *accepted) UnmarshalYAML(n *yaml.Node) error {
	fields := []string{"law", "case", "object", "reason"}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; !slices.Contains(fields, name) {
			return fmt.Errorf("unknown field %s%s", name, suggest(name, fields))
		}
	}
	if err := n.Decode(&a.Accept); err != nil {
		return err
	}
	a.line = n.Line
	return a.Check()
}

// acceptedAs returns the entry for a violation in a case, nil for none.
func acceptedAs(all []*accepted, in string, f *scenarios.Counterexample) *accepted {
	for _, a := range all {
		if a.Is(in, f) {
			a.met = true
			return a
		}
	}
	return nil
}

// from is where an entry stands.
func (a *accepted) from() string {
	if a.line == 0 {
		return "--accept"
	}
	return fmt.Sprintf("%s:%d: accept", settingsFile, a.line)
}
