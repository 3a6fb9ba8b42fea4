package cli

import (
	"errors"
	"fmt"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// caseExplored returns the result of an exploration for CI reports. err is set if the file could not be explored.
func (s *shelf) caseExplored(name string, rep *exploration, err error) ci.File {
	c := ci.File{Name: name}
	if err != nil {
		var e *scenarios.Error
		if !errors.As(err, &e) {
			e = &scenarios.Error{File: name, Text: err.Error(), Code: scenarios.ExitUsage}
		}
		c.Page, c.Problems = err.Error()+"\n", []ci.Problem{s.problem(e, "")}
		return c
	}
	c.Page = rep.text(render.Width)
	add := func(title, text string) {
		c.Problems = append(c.Problems, ci.Problem{File: s.place(name), Title: title, Text: text})
	}
	for _, f := range rep.Failures {
		add(f.Law, fmt.Sprintf("%s\n%s\n%s", f.Text, f.Small, f.replay()))
	}
	switch {
	case len(c.Problems) > 0:
	case rep.ExitCode == scenarios.ExitNotSettled:
		add("does not settle", rep.head())
	case rep.ExitCode != scenarios.ExitPass:
		add("not covered", rep.head())
	}
	return c
}
