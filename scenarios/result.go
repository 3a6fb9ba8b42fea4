package scenarios

import (
	"errors"

	"github.com/threelaws/threelaws/internal/render"
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
	Page     *render.Page `json:"page,omitempty"`    // of what went wrong without a "!"
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
	ExitPass: "pass", ExitFail: "fail", ExitUsage: "usage",
	ExitNotSettled: "not settled", ExitNondetermine: "not deterministic",
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
