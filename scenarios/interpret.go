package scenarios

import (
	"errors"
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/golden"
	"github.com/threelaws/threelaws/sim"
)

// Interpret runs a parsed file. If Update is set, it replaces golden texts in f.
func Interpret(f *File, o Options) *Result {
	res := &Result{File: f.Name, Verdict: verdicts[ExitPass]}
	if err := f.Check(o.Registry); err != nil {
		res.add(err)
		return res
	}
	hash := res.run(f, o)
	if o.Twice && res.ExitCode != ExitUsage {
		if err := f.again(o, hash); err != nil {
			res.add(err)
		}
	}
	return res
}

// again runs the file a second time and compares the hashes. It leaves out explore and mutant steps, because they do
// not change the world.
func (f *File) again(o Options, hash uint64) error {
	g := *f
	g.Steps = slices.DeleteFunc(slices.Clone(f.Steps), func(s *Step) bool { return s.verb.explores })
	second := (&Result{File: f.Name}).run(&g, Options{Registry: o.Registry, Strict: o.Strict})
	if second == hash {
		return nil
	}
	where, causes := g.difference(o)
	e := wrong(f.Name, 0, "", "two runs of one schedule differ%s: hashes %016x and %016x%s", where, hash, second, causes)
	e.Code = ExitNondetermine
	return e
}

// difference returns where two runs of the file begin to differ, and usual causes. If it finds no difference, both are
// "".
func (f *File) difference(o Options) (where, causes string) {
	p := &Script{File: f, Registry: o.Registry, Until: len(f.Steps), atOnce: true, Strict: o.Strict}
	choices := func() sim.Choices { return sim.Zero{} }
	if s := f.Steps[0]; s.verb == verbSchedule {
		entries, err := s.recorded(p)
		if err != nil {
			return "", ""
		}
		choices = func() sim.Choices { return explore.Follow(entries) }
	}
	_, _, err := explore.Twice(p.Run, func() *explore.Recorder { return explore.Record(choices()) })
	if d := (*explore.Disagreement)(nil); errors.As(err, &d) {
		return d.Where(), d.Causes()
	}
	return "", ""
}

// run executes the steps and returns the hash of the run. It continues after an output that differs from the golden
// text. It stops at any other error.
func (res *Result) run(f *File, o Options) uint64 {
	r := newRun(o.Registry, f)
	defer r.stop()
	r.counting.strict, r.telling.verbose, r.compare = o.Strict, o.Verbose, compareEnds
	for _, s := range f.Steps {
		output, err := r.perform(s)
		sr := StepResult{Line: s.Line, Step: s.String(), Phase: s.Phase, Output: output, OK: err == nil,
			Loose: err == nil && !s.Expect && s.verb.settles && !s.Has("quiet") && !s.HasGolden}
		if r.course.ended {
			res.add(f.misfit(r.course.keys.Err()))
			break
		}
		if err == nil && s.HasGolden {
			if o.Update || o.fill {
				s.Golden = golden.Text(output)
			} else if e := f.compare(s, output); e != nil {
				sr.OK = false
				res.add(e)
			}
		}
		res.Steps = append(res.Steps, sr)
		if err != nil {
			res.add(err)
			if res.Page = r.failed.found; res.Page == nil {
				res.Page = r.Page(r.failed.last())
			}
			break
		}
	}
	if r.course.keys != nil && res.ExitCode == ExitPass {
		if err := r.course.keys.Err(); err != nil {
			res.add(f.misfit(err))
		}
	}
	if o.Inspect != nil {
		o.Inspect(r)
	}
	hash := r.hash()
	res.Hash = fmt.Sprintf("%016x", hash)
	return hash
}

// compare returns an error if a step's output differs from its golden text. It ignores the hash in a failure's file,
// because the hash changes between versions, and the schedule suffices for a replay.
func (f *File) compare(s *Step, output string) *Error {
	got := golden.Text(output)
	if s.verb == verbHash && f.Steps[0].verb == verbSchedule {
		return nil
	}
	if !s.HasGolden || golden.Text(s.Golden) == got && s.Golden != "" {
		return nil
	}
	if s.Golden == "" {
		return s.fail(ExitFail, "there is no text beneath ----: run with --update to fill it in, or write %s", golden.None)
	}
	e := s.fail(ExitFail, "output differs (- expected, + printed)")
	e.Diff = golden.Diff(golden.Text(s.Golden), got)
	return e
}

// Options configure a run of a file.
type Options struct {
	Registry *Registry
	Update   bool // replace golden texts by the output
	Strict   bool // a violation counts even if the process could not know of it (a lost race)
	Verbose  bool // show status writes in timelines
	Twice    bool // run the file again, without its explore and mutant steps, and compare the hashes

	// Inspect, if not nil, is called at the end of the run, before its processes stop. If the file is run twice, it is
	// called only for the first run.
	Inspect func(*Run)

	fill bool // replace golden texts, for the file of a failure
	_    struct{}
}

// Result is the result of a file. It can be encoded as JSON.
type Result struct {
	File     string       `json:"file"`
	Verdict  string       `json:"verdict"` // pass, fail, usage, not settled, not deterministic
	ExitCode int          `json:"exitCode"`
	Steps    []StepResult `json:"steps"`
	Errors   []*Error     `json:"errors,omitempty"`
	Hash     string       `json:"hash,omitempty"`
	Updated  bool         `json:"updated,omitempty"` // the file was written with new golden texts
	Page     *render.Page `json:"page,omitempty"`    // the page of an unexpected failure; nil if there is none
}

// StepResult is the output of one step.
type StepResult struct {
	Line   int    `json:"line"`
	Step   string `json:"step"`
	Phase  string `json:"phase,omitempty"`
	Output string `json:"output,omitempty"`
	OK     bool   `json:"ok"`
	// Loose means that the step is a settle with a timeline but without "----" below it. Its output is not compared.
	Loose bool `json:"loose,omitempty"`
}

var verdicts = map[int]string{
	ExitPass: "pass", ExitFail: "fail", ExitUsage: "usage",
	ExitNotSettled: "not settled", ExitNondetermine: "not deterministic",
}

// Unread returns the result of a file that could not be read.
func Unread(path string, err error) *Result {
	r := &Result{File: path}
	r.add(err)
	return r
}

// add records an error. The first error sets the verdict. A later usage error replaces the verdict.
func (r *Result) add(err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = wrong(r.File, 0, "", "%v", err)
	}
	r.Errors = append(r.Errors, e)
	if r.ExitCode == ExitPass || e.Code == ExitUsage {
		r.ExitCode = e.Code
	}
	r.Verdict = verdicts[r.ExitCode]
}
