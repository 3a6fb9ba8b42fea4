package cli

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
)

// unexpectLast removes the "!" of the last settle step before the first explore or mutant step. Then the exploration
// searches for violations in this settle step.
func unexpectLast(f *scenarios.File) {
	var last *scenarios.Step
	for _, s := range f.Steps {
		if scenarios.FindVerb(s.Verb).Explores() {
			break
		}
		if s.Verb == "settle" {
			last = s
		}
	}
	if last != nil {
		last.Expect = false
	}
}

// inEra makes a file's controllers run in another era, unless era is "". If none has this era, it returns an error.
func inEra(g *scenarios.Registry, f *scenarios.File, era string) error {
	if era == "" {
		return nil
	}
	if all := g.Eras(); !slices.Contains(all, era) {
		return usage("--era: unknown era %s%s", era, suggest(era, all))
	}
	has := map[string]bool{}
	for _, c := range g.Controllers {
		has[c.Name+"@"+c.Era] = true
	}
	changed := false
	for _, s := range f.Steps {
		if s.Verb != "controllers" {
			continue
		}
		for i := range s.Args {
			name, _, _ := strings.Cut(s.Args[i].Text, "@")
			if alias, ok := g.Aliases[name]; ok {
				name = alias
			}
			if has[name+"@"+era] || name == "*" || name == "all" {
				s.Args[i] = scenarios.Arg{Text: name + "@" + era, Value: name + "@" + era}
				changed = true
			}
		}
	}
	if !changed {
		return notFile(f.Name, "no controller of this file has an era "+era)
	}
	return nil
}
