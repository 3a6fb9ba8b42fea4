package cli

import (
	"slices"

	"github.com/threelaws/threelaws/scenarios"
)

// watch runs the steps of a file that do not explore, shows the run to inspect
// when it is over, and returns what became of it. The error is a mistake in the
// file.
func (a *app) watch(path string, o scenarios.Options) (*scenarios.Result, error) {
	f, err := a.load(path)
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
