package scenarios

import (
	"errors"

	"github.com/threelaws/threelaws/internal/render"
)

// Options configure a run of a file.
type Options struct {
	Registry *Registry
	Update   bool // rewrite golden text
	Strict   bool // lost races are violations
	Verbose  bool // timelines show status writes
	Twice    bool // run the file twice and compare the hashes; steps that explore always do so

	// Inspect is called when the run is over, before its processes stop. If the file runs twice, it gets the first run.
	Inspect func(*Run)

	fill bool // write golden text in memory
	_    struct{}
}

// Result is the result of one file. It encodes to JSON.
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
	// Loose marks a settle that prints a timeline but has no ---- beneath it, so its output is not compared.
	Loose bool `json:"loose,omitempty"`
}

var verdicts = map[int]string{
	ExitPass: "pass", ExitFail: "fail", ExitUsage: "usage",
	ExitNotSettled: "not settled", ExitNondetermine: "not deterministic",
}

// Unread returns the result of a file that could not be run at all.
func Unread(path string, err error) *Result {
	r := &Result{File: path}
	r.add(err)
	return r
}

// add records an error; the first one sets the verdict.
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
