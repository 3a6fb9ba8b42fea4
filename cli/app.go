package cli

import (
	"context"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// app is what every command works with.
type app struct {
	console
	shelf

	name     string // of the program, as it was called
	version  string // "" for what the program was built from
	annotate bool   // GitHub reads what is printed
	registry *scenarios.Registry

	// operators finds the operator that check judges; nil for findOperator.
	operators func(ctx context.Context, s *settings) (*operator, error)

	code int // the exit code, if nothing goes wrong
}

// named puts the program's name into a text that calls it threelaws.
func (a *app) named(text string) string {
	return strings.ReplaceAll(text, "threelaws ", a.name+" ")
}

// lawsNamed finds laws by name or clause; all without names.
func (a *app) lawsNamed(names []string) ([]*law.Law, error) {
	if len(names) == 0 {
		return a.registry.Laws, nil
	}
	var found []*law.Law
next:
	for _, name := range names {
		for _, l := range a.registry.Laws {
			if l.Name == name || strings.EqualFold(l.ID, name) {
				found = append(found, l)
				continue next
			}
		}
		return nil, usage("laws: unknown law %s%s", name, suggest(name, a.lawWords()))
	}
	return found, nil
}

// lawWords are the names and clauses of all laws.
func (a *app) lawWords() []string {
	var words []string
	for _, l := range a.registry.Laws {
		words = append(words, l.Name, l.ID)
	}
	return words
}

// mutantNames are the names of all mutants.
func (a *app) mutantNames() []string {
	var names []string
	for _, m := range a.registry.Mutants {
		names = append(names, m.Name)
	}
	return names
}
