package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check reports a mistake in the registry itself, in one line: a controller that
// cannot run, two that no name tells apart, a function that no file can name.
func (g *Registry) Check() error {
	for i := range g.Controllers {
		c := &g.Controllers[i]
		if err := c.Check(); err != nil {
			return g.wrong("%v", err)
		}
		for k := range g.Controllers[:i] {
			if d := &g.Controllers[k]; d.Name == c.Name && d.Generation == c.Generation {
				return g.wrong("two controllers are named %s: give one another Name, or another Generation", c.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Funcs)) {
		switch {
		case name == "" || strings.ContainsAny(name, " \t\r\n\"'#=") || strings.HasPrefix(name, "-"):
			return g.wrong("the function %q: its name is one word, as it stands in files", name)
		case g.Funcs[name] == nil:
			return g.wrong("the function %s is nil", name)
		}
	}
	return nil
}

func (g *Registry) wrong(format string, args ...any) error {
	return &Error{File: "registry", Text: fmt.Sprintf(format, args...), Code: ExitUsage}
}
