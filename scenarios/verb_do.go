package scenarios

import (
	"maps"
	"slices"

	"github.com/threelaws/threelaws/sim/law"
)

var verbDo = &Verb{
	Name: "do", Args: "NAME", Min: 1, Max: 1,
	Summary: "let the user do what a Go test has registered under a name",
	Detail: `For files that a Go test writes: what the user does there is Go. Only a program
that has the function, that test or a command with its registry, can run them.`,
	Example: "do rename-the-owner",
	acts:    true,
	check:   checkFunc,
	run:     func(r *Run, s *Step) error { return r.doFunc(s.Word(0)) },
}

var verbEnsure = &Verb{
	Name: "ensure", Args: "NAME", Min: 1, Max: 1,
	Summary: "require what a Go test has registered under a name",
	Detail: `As expect, with a Go function in place of a condition: it holds in explored runs
too. The name same-end is that of the law: the settled objects are those of a quiet
run of the same steps. What differs between quiet runs is left out.`,
	Example: "ensure every-widget-has-its-children",
	check:   checkFunc,
	expects: (*Run).ensure,
	run:     runExpectation,
}

var verbRace = &Verb{
	Name: "race", Max: 0,
	Summary: "let what the user does next race with the controllers",
	Detail: `As a settle does, but nothing runs before it: in explored runs the user's actions
that follow are offered among the controllers' from their very first step on.`,
	Example: "apply world.yaml\nrace\ndelete rs/web",
	paces:   true,
	run: func(r *Run, s *Step) error {
		r.barrier()
		return nil
	},
}

func checkFunc(c *checker, s *Step) error {
	if _, ok := c.registry.Funcs[s.Word(0)]; ok || s.comparesEnds() {
		return nil
	}
	names := slices.Sorted(maps.Keys(c.registry.Funcs))
	if len(names) == 0 {
		return s.wrong("%s is Go code that this program does not have: replay the file with the test that wrote it",
			s.Word(0))
	}
	return s.wrong("there is no function %s%s", s.Word(0), suggest(s.Word(0), names))
}

// doFunc runs a function of the registry as the user.
func (r *Run) doFunc(name string) error {
	f := r.registry.Funcs[name]
	if f == nil {
		return r.errorf("there is no function %s", name)
	}
	return r.act("do "+name, func() error { return f(r.t.Cluster.Client(law.User)) })
}

// ensure returns the error of a function of the registry, or "". It does not check a world that its time limit stopped
// within a reconcile.
func (r *Run) ensure(s *Step) string {
	if s.comparesEnds() {
		return r.compare(r, s)
	}
	if r.settled.how.Middle != "" && !s.Expect {
		return ""
	}
	var err error
	r.t.World.Do(s.String(), func() { err = r.registry.Funcs[s.Word(0)](r.t.Cluster.Client(law.User)) })
	if err != nil {
		return err.Error()
	}
	return ""
}
