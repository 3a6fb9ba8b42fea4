package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// timed is what became of a file, and how long it took.
type timed struct {
	*scenarios.Result
	took time.Duration
}

// runReport is what run prints with --json.
type runReport struct {
	Files       []*scenarios.Result `json:"files"`
	Passed      int                 `json:"passed"`
	Updated     int                 `json:"updated"`
	Loose       int                 `json:"loose"` // settles whose output is held against nothing
	Interrupted bool                `json:"interrupted,omitempty"`
	Seconds     float64             `json:"seconds"`
	ExitCode    int                 `json:"exitCode"`
}

// add counts a file.
func (r *runReport) add(res *scenarios.Result) {
	r.Files = append(r.Files, res)
	r.ExitCode = worse(r.ExitCode, res.ExitCode)
	if res.ExitCode == scenarios.ExitPass {
		r.Passed++
	}
	for _, s := range res.Steps {
		if s.Loose {
			r.Loose++
		}
	}
	if res.Updated {
		r.Updated++
	}
}

// summary is the last line.
func (r *runReport) summary(whose string, files int, elapsed time.Duration) string {
	parts := []string{plural(files, "file"), fmt.Sprintf("%d passed", r.Passed)}
	if whose != "" {
		parts[0] += " " + whose
	}
	if n := len(r.Files) - r.Passed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if r.Loose > 0 {
		parts = append(parts, plural(r.Loose, "settle")+" without ----")
	}
	if r.Updated > 0 {
		parts = append(parts, fmt.Sprintf("%d updated", r.Updated))
	}
	if r.Interrupted {
		parts = append(parts, fmt.Sprintf("%d not run: interrupted", files-len(r.Files)))
	}
	return strings.Join(append(parts, round(elapsed)), ", ") + "\n"
}

// report prints what went wrong in a file, and with verbose all its steps.
func report(a *app, res *scenarios.Result, verbose bool) {
	if verbose {
		a.printf("=== %s\n", res.File)
		for _, s := range res.Steps {
			loose := ""
			if s.Loose {
				loose = "   (no ---- beneath it: its output is held against nothing)"
			}
			a.printf("%s%s\n%s", s.Step, loose, indent(s.Output))
		}
	}
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			fmt.Fprintln(a.err, e)
		}
	}
	a.print(wrongs(a, res, a.width))
}

// wrongs is what went wrong in the run of a file: each error under the phase that
// it is in, and the page of the one that ended it.
func wrongs(a *app, res *scenarios.Result, width int) string {
	var b strings.Builder
	phase := ""
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			continue
		}
		if p := phaseAt(res, e.Line); p != "" && p != phase {
			phase = p
			b.WriteString("# " + p + "\n")
		}
		b.WriteString(e.Error() + "\n")
	}
	if res.Page != nil {
		b.WriteString(res.Page.Wide(width))
	}
	return b.String()
}

// point says in the page of what went wrong how it is run again, and leaves it as a file.
func point(a *app, res *scenarios.Result) {
	p := res.Page
	if p == nil {
		return
	}
	p.Replay = a.name + " replay " + argument(res.File)
	p.Draw(a.name + " show --as dot " + argument(res.File))
	a.leave(pageOf(res.File, p.Breach.Law), p, nil)
}

// phaseAt is the phase that the step on a line belongs to.
func phaseAt(res *scenarios.Result, line int) string {
	for _, s := range res.Steps {
		if s.Line == line {
			return s.Phase
		}
	}
	return ""
}

// caseOf is what continuous integration is told of a file.
func (a *app) caseOf(t timed) ci.Case {
	c := ci.Case{Name: t.File, Took: t.took, Page: wrongs(a, t.Result, render.Width)}
	for i, e := range t.Errors {
		law := ""
		if t.Page != nil && i == len(t.Errors)-1 && scenarios.FindVerb(t.Page.Breach.Law) == nil {
			law = t.Page.Breach.Law
		}
		c.Problems = append(c.Problems, a.problem(e, law))
		if e.Code == scenarios.ExitUsage {
			c.Page += e.Error() + "\n"
		}
	}
	return c
}
