package cli

import (
	"slices"

	"github.com/threelaws/threelaws/scenarios"
)

// load finds, parses and checks one scenario file.
func (a *app) load(arg string) (*scenarios.File, error) {
	name, err := a.one(arg)
	if err != nil {
		return nil, err
	}
	f, err := a.read(name)
	if err != nil {
		return nil, err
	}
	return f, f.Check(a.registry)
}

// watch runs the steps of a file that do not explore, shows the run to inspect
// when it is over, and returns what became of it. The error is a mistake in the
// file.
func (a *app) watch(arg string, o scenarios.Options) (*scenarios.Result, error) {
	f, err := a.load(arg)
	if err != nil {
		return nil, err
	}
	f.Steps = slices.DeleteFunc(f.Steps, func(s *scenarios.Step) bool { return scenarios.FindVerb(s.Verb).Explores() })
	o.Registry = a.registry
	res := scenarios.Interpret(f, o)
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			return nil, e
		}
	}
	return res, nil
}
