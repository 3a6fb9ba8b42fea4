// Package conform holds what controllers do against the list of clauses: which
// scenarios, mutants and recorded cases there are for each clause, which clause each
// controller of a registry keeps under exploration in each era, and the
// pages that are made of it.
package conform

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// Cover is what there is for one clause.
type Cover struct {
	*clause.Clause

	Law       *law.Law // nil for none
	Scenarios []string // files whose comments name it
	Kills     []Kill   // mutants that its law kills
}

// Kill is a mutant that a scenario kills.
type Kill struct {
	Mutant string
	File   string
	Line   int
}

// Coverage says what there is for each clause, in the order of the list: by the
// comments of files, and by what stands beneath their steps that kill mutants, which
// running them holds to be so.
func Coverage(files []*scenarios.File, g *scenarios.Registry) []*Cover {
	pins, kills := map[string][]string{}, map[string][]Kill{}
	for _, f := range files {
		for _, id := range clause.In(comments(f)) {
			pins[id] = append(pins[id], f.Name)
		}
		for _, s := range f.Steps {
			if s.Verb != "mutant" {
				continue
			}
			if by := killer(s); by != "" {
				k := Kill{s.Word(0), f.Name, s.Line}
				if !slices.ContainsFunc(kills[by], func(o Kill) bool { return o.Mutant == k.Mutant }) {
					kills[by] = append(kills[by], k)
				}
			}
		}
	}
	var all []*Cover
	for _, c := range clause.All() {
		v := &Cover{Clause: c, Scenarios: pins[c.ID]}
		for _, l := range g.Laws {
			if l.ID == c.ID {
				v.Law, v.Kills = l, kills[l.Name]
			}
		}
		all = append(all, v)
	}
	return all
}

// Lacks says what is missing for a clause, "" for nothing: a law that kills no
// mutant is not known to see anything, and a clause that nothing names is held by
// nobody.
func (c *Cover) Lacks() string {
	pinned := len(c.Tests) > 0 || len(c.Cases) > 0
	switch {
	case c.Law != nil && c.Law.New != nil && len(c.Kills) == 0 && !pinned:
		return "its law kills no mutant"
	case len(c.Scenarios) == 0 && len(c.Kills) == 0 && !pinned:
		return "no scenario, test or recorded case is for it"
	}
	return ""
}

// Comments are the lines of a file's script that are comments.
func comments(f *scenarios.File) string {
	var b strings.Builder
	for line := range strings.Lines(string(f.Format())) {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if line[0] == '#' {
			b.WriteString(line)
		}
	}
	return b.String()
}

// killer is the name of the law that a step says it kills its mutant by.
func killer(s *scenarios.Step) string {
	text, ok := strings.CutPrefix(s.Golden, "killed by ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(text, " ")
	return strings.TrimRight(name, ":\n")
}
