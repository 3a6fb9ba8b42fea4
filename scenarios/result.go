package scenarios

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Options say how a file is run.
type Options struct {
	Registry *Registry
	Update   bool // rewrite golden text
	Strict   bool // races lost are broken laws
	Verbose  bool // timelines show status writes
	Twice    bool // run the file twice and compare the hashes; steps that explore do so by themselves

	// Inspect is shown the run when it is over, before it is torn down. Of two
	// runs it is shown the first.
	Inspect func(*Run)

	fill bool // golden text is filled in, in memory
	_    struct{}
}

// Result is what became of one file. It encodes to JSON.
type Result struct {
	File     string       `json:"file"`
	Verdict  string       `json:"verdict"` // pass, fail, usage, not settled, not deterministic
	ExitCode int          `json:"exitCode"`
	Steps    []StepResult `json:"steps"`
	Errors   []*Error     `json:"errors,omitempty"`
	Hash     string       `json:"hash,omitempty"`
	Updated  bool         `json:"updated,omitempty"` // the file was rewritten
	Page     *render.Page `json:"page,omitempty"`    // of what went wrong without a "!": a law, an expectation, a world that does not settle

	file *File
}

// StepResult is what one step printed.
type StepResult struct {
	Line   int    `json:"line"`
	Step   string `json:"step"`
	Phase  string `json:"phase,omitempty"`
	Output string `json:"output,omitempty"`
	OK     bool   `json:"ok"`
	// Loose is a settle that tells what happened and has no ---- beneath it:
	// nothing holds its output against anything.
	Loose bool `json:"loose,omitempty"`
}

var verdicts = map[int]string{
	ExitPass: "pass", ExitFail: "fail", ExitUsage: "usage", ExitNotSettled: "not settled", ExitNondetermine: "not deterministic",
}

// RunFile reads and runs one file. With Update it rewrites the golden text, in
// one step, unless a law was broken without a "!", something else went wrong,
// or CI is set in the environment.
func RunFile(path string, o Options) *Result {
	f, err := Load(path)
	if err != nil {
		return Unread(path, err)
	}
	if o.Update && inCI() {
		return Unread(path, wrong(path, 0, "", "--update is refused under CI: expectations are changed by people"))
	}
	res := Interpret(f, o)
	if o.Update && res.ExitCode == ExitPass {
		if text := f.Format(); string(text) != f.src {
			if err := WriteFile(path, text); err != nil {
				res.add(wrong(path, 0, "", "not updated: %v", err))
			} else {
				res.Updated = true
			}
		}
	}
	return res
}

// Load reads and parses a file. Errors are [*Error]s.
func Load(path string) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// readFile reads no more than can be a scenario.
func readFile(path string) ([]byte, error) {
	if st, err := os.Stat(path); err == nil && st.Size() > MaxSize {
		return nil, wrong(path, 0, "", "the file is too large: %d bytes, at most %d are read", st.Size(), MaxSize)
	}
	data, err := os.ReadFile(path)
	var pe *os.PathError
	if errors.As(err, &pe) {
		return nil, wrong(path, 0, "", "cannot be read: %v", pe.Err)
	}
	return data, err
}

func inCI() bool {
	v := strings.ToLower(os.Getenv("CI"))
	return v != "" && v != "0" && v != "false"
}

// Unread is the result of a file that could not be run at all.
func Unread(path string, err error) *Result {
	r := &Result{File: path}
	r.add(err)
	return r
}

// add notes an error; the first one gives the verdict.
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

// Interpret runs a parsed file. With Update the golden text of the file is
// replaced in memory.
func Interpret(f *File, o Options) *Result {
	res := &Result{File: f.Name, Verdict: verdicts[ExitPass], file: f}
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

// again runs the file once more, without the steps that explore, and compares
// the hashes. Steps that explore do not change the world.
func (f *File) again(o Options, hash uint64) error {
	g := *f
	g.Steps = slices.DeleteFunc(slices.Clone(f.Steps), func(s *Step) bool { return FindVerb(s.Verb).explores })
	second := (&Result{File: f.Name, file: &g}).run(&g, Options{Registry: o.Registry, Strict: o.Strict})
	if second == hash {
		return nil
	}
	e := wrong(f.Name, 0, "", "two runs of one schedule differ%s: hashes %016x and %016x", g.difference(o), hash, second)
	e.Code = ExitNondetermine
	return e
}

// difference says where two runs of the file first differ, "" where it cannot
// be found.
func (f *File) difference(o Options) string {
	p := &Script{File: f, Registry: o.Registry, Until: len(f.Steps), Default: true, Strict: o.Strict}
	choices := func() sim.Choices { return sim.Zero{} }
	if s := f.Steps[0]; s.Verb == verbSchedule.Name {
		entries, err := s.recorded(p)
		if err != nil {
			return ""
		}
		choices = func() sim.Choices { return explore.Follow(entries) }
	}
	_, _, err := explore.Twice(p.Run, func() *explore.Recorder { return explore.Record(choices()) })
	if d := (*explore.Disagreement)(nil); errors.As(err, &d) {
		return fmt.Sprintf(" at step %d: first %s, then %s", d.Step, d.First, d.Second)
	}
	return ""
}

// run performs the steps. It goes on after output that differs, and stops at
// anything else.
func (res *Result) run(f *File, o Options) uint64 {
	r := NewRun(o.Registry)
	defer r.Stop()
	r.file, r.Strict, r.Verbose = f, o.Strict, o.Verbose
	for _, s := range f.Steps {
		output, err := r.do(s)
		sr := StepResult{Line: s.Line, Step: s.String(), Phase: s.Phase, Output: output, OK: err == nil,
			Loose: err == nil && !s.Expect && s.Verb == verbSettle.Name && !s.Has("quiet") && !s.HasGolden}
		if r.ended {
			res.add(f.misfit(r.keys.Err()))
			break
		}
		if err == nil && s.HasGolden {
			if o.Update || o.fill {
				s.Golden = golden(output)
			} else if e := s.compare(output); e != nil {
				sr.OK = false
				res.add(e)
			}
		}
		res.Steps = append(res.Steps, sr)
		if err != nil {
			res.add(err)
			if r.found != nil {
				res.Page = r.found.Page
			} else {
				res.Page = r.Page(r.lastFailure())
			}
			break
		}
	}
	if r.keys != nil && res.ExitCode == ExitPass {
		if err := r.keys.Err(); err != nil {
			res.add(f.misfit(err))
		}
	}
	if o.Inspect != nil {
		o.Inspect(r)
	}
	hash := r.Hash()
	res.Hash = fmt.Sprintf("%016x", hash)
	return hash
}
