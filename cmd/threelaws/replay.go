package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/explore"
	"github.com/threelaws/threelaws/sim/render"
)

// replayed is what replay prints with --json.
type replayed struct {
	File       string             `json:"file"`
	Hash       string             `json:"hash"`
	Again      string             `json:"again"` // the hash of the second run
	Reproduced bool               `json:"reproduced"`
	Law        string             `json:"law,omitempty"`
	Page       *render.Page       `json:"page,omitempty"`
	Errors     []*scenarios.Error `json:"errors,omitempty"`
	ExitCode   int                `json:"exitCode"`
}

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "run a failure file exactly, twice, and compare the hashes",
		Long: `Runs the file twice in its recorded schedule, or in the default one when it has
none, and compares the hashes of the runs. Steps that explore are left out.

A failure that happens again is shown, and the exit code is 1 (3 for a world that
does not settle), whether or not the file expects it with "!". It is 0 when no
law is broken and the output is as recorded, and 4 when the two runs differ; the
first differing step is named.
To hold a failure file against its golden text, use "threelaws run".`,
		Example: "  threelaws replay scenarios/failures/FILE.txtar",
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.replay(args[0])
		},
	}
}

func (a *app) replay(path string) error {
	first, f, err := a.once(path)
	if err != nil {
		return err
	}
	second, _, err := a.once(path)
	if err != nil {
		return err
	}
	if first.Hash != second.Hash {
		return &scenarios.Error{File: f.Name, Text: a.difference(f, first.Hash, second.Hash), Code: scenarios.ExitNondetermine}
	}
	rep := &replayed{File: f.Name, Hash: first.Hash, Again: second.Hash, Errors: first.Errors, ExitCode: first.ExitCode, Page: first.Page}
	if first.ExitCode == scenarios.ExitPass {
		if err := a.reproduce(path, rep); err != nil {
			return err
		}
	}
	if rep.Page != nil {
		rep.Law, rep.Page.Title = rep.Page.Breach.Law, f.Name
		rep.Page.Picture = "threelaws show --as dot " + f.Name
	}
	a.code = rep.ExitCode
	if a.json {
		return a.encode(rep)
	}
	a.print(rep.text())
	return nil
}

// once runs the file, without the steps that explore. The error is a mistake in
// the file: what goes otherwise than recorded is in the result.
func (a *app) once(path string) (*scenarios.Result, *scenarios.File, error) {
	f, err := a.load(path)
	if err != nil {
		return nil, nil, err
	}
	f.Steps = withoutExploring(f.Steps)
	res := scenarios.Interpret(f, scenarios.Options{Registry: a.registry})
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			return nil, nil, e
		}
	}
	return res, f, nil
}

// reproduce finds the failure that the file expects: the first step whose "!"
// stands for a broken law, an expectation or a world that does not settle. A
// refusal is no failure.
func (a *app) reproduce(path string, rep *replayed) error {
	for i := 0; ; i++ {
		f, err := a.load(path)
		if err != nil {
			return err
		}
		f.Steps = withoutExploring(f.Steps)
		if i >= len(f.Steps) {
			return nil
		}
		s := f.Steps[i]
		if !s.Expect {
			continue
		}
		s.Expect = false
		w := &witness{counts: judgedBy(f)}
		res := scenarios.Interpret(f, scenarios.Options{Registry: w.attend(a.registry)})
		failed := errorAt(res, s.Line)
		if failed == nil {
			continue
		}
		if rep.Page = res.Page; rep.Page == nil {
			rep.Page = w.fight()
		}
		switch {
		case rep.Page != nil:
			rep.Law, rep.ExitCode = rep.Page.Breach.Law, scenarios.ExitFail
		case failed.Code == scenarios.ExitNotSettled || s.Verb == "expect":
			rep.Law, rep.ExitCode = s.String(), failed.Code
		default:
			continue
		}
		rep.Reproduced = true
		return nil
	}
}

// errorAt is what went wrong in the step on a line, nil for nothing.
func errorAt(res *scenarios.Result, line int) *scenarios.Error {
	for _, e := range res.Errors {
		if e.Line == line {
			return e
		}
	}
	return nil
}

// text renders the page, what went otherwise than recorded, and the verdict.
func (r *replayed) text() string {
	text := ""
	if r.Page != nil {
		text = r.Page.Text() + "\n"
	}
	for _, e := range r.Errors {
		text += e.Error() + "\n"
	}
	switch {
	case r.Reproduced && r.ExitCode == scenarios.ExitNotSettled:
		text += "reproduced: " + r.Law + " does not settle"
	case r.Reproduced:
		text += "reproduced: " + r.Law + " is broken"
	case r.Law != "":
		text += r.Law + " is broken, which the file does not expect"
	case len(r.Errors) > 0:
		text += "not as recorded"
	default:
		text += "no law is broken"
	}
	return fmt.Sprintf("%s; hash %s, twice\n", text, r.Hash)
}

// recorded returns the step that names the file's schedule, nil when there is
// none.
func recorded(f *scenarios.File) *scenarios.Step {
	for _, s := range f.Steps {
		if s.Verb == "schedule" {
			return s
		}
	}
	return nil
}

func strict(f *scenarios.File) bool {
	if s := recorded(f); s != nil {
		v, _ := s.Param("strict")
		return v == "true"
	}
	return false
}

// difference says where two runs of a file first differ.
func (a *app) difference(f *scenarios.File, first, second string) string {
	text := fmt.Sprintf("two runs of one schedule differ: hashes %s and %s", first, second)
	p := &scenarios.Program{File: f, Registry: a.registry, Until: len(f.Steps), Default: true}
	choices := func() sim.Choices { return sim.Zero{} }
	if s := recorded(f); s != nil {
		p.Default, p.Strict = false, strict(f)
		if v, ok := s.Param("faults"); ok {
			p.Faults, _ = scenarios.ParseFaults(v)
		}
		schedule, err := scheduleOf(f.Section(s.Word(0)))
		if err != nil {
			return text
		}
		choices = func() sim.Choices { return explore.Follow(schedule) }
	}
	_, _, err := explore.Twice(p.Run, func() *explore.Recorder { return explore.Record(choices()) })
	if d := (*explore.Disagreement)(nil); errors.As(err, &d) {
		return fmt.Sprintf("two runs of one schedule differ at step %d: first %s, then %s (hashes %s and %s)",
			d.Step, d.First, d.Second, first, second)
	}
	return text
}
