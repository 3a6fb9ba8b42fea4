// Package conform compares controllers with the list of clauses. It finds the scenarios, mutants and recorded cases
// of each clause, and explores which clauses each controller keeps in each era. It writes the pages of docs/evidence
// from the results.
package conform

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// Cover lists what covers one clause.
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

// Coverage returns what covers each clause, in the order of the list. It reads the comments of files, and the golden
// text of their mutant steps, which running the files verifies.
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

// Lacks returns what a clause lacks, "" for nothing. A law that kills no mutant may find nothing, and a clause that
// nothing names is not tested.
func (c *Cover) Lacks() string {
	pinned := len(c.Tests) > 0 || len(c.Cases) > 0
	switch {
	case c.Law != nil && c.Law.New != nil && len(c.Kills) == 0 && !pinned:
		return "its law kills no mutant"
	case len(c.Scenarios) == 0 && len(c.Kills) == 0 && !pinned:
		return "no scenario, test or recorded case covers it"
	}
	return ""
}

// comments returns the comment lines of a file's script.
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

// killer returns the name of the law that kills the mutant of a step, by its golden text.
func killer(s *scenarios.Step) string {
	text, ok := strings.CutPrefix(s.Golden, "killed by ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(text, " ")
	return strings.TrimRight(name, ":\n")
}
