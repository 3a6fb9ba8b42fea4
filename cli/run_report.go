package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/cli/internal/ci"
	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

type timed struct {
	*scenarios.Result
	took time.Duration
}

type runReport struct {
	Files       []*scenarios.Result `json:"files"`
	Passed      int                 `json:"passed"`
	Updated     int                 `json:"updated"`
	Loose       int                 `json:"loose"` // the number of settle steps with a timeline but no golden text
	Interrupted bool                `json:"interrupted,omitempty"`
	Seconds     float64             `json:"seconds"`
	ExitCode    int                 `json:"exitCode"`
}

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

func report(a *app, res *scenarios.Result, verbose bool) {
	if verbose {
		a.printf("=== %s\n", res.File)
		for _, s := range res.Steps {
			loose := ""
			if s.Loose {
				loose = "   (no ---- beneath it: its output is not compared)"
			}
			a.printf("%s%s\n%s", s.Step, loose, indent(s.Output))
		}
	}
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			fmt.Fprintln(a.err, a.elsewhere(e))
		}
	}
	a.print(wrongs(a, res, a.width))
}

// wrongs formats the errors of a run, except usage errors. The first sentence of the comment above a step is the
// heading of its errors. The page of the error that ended the run comes last.
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

func point(a *app, res *scenarios.Result) {
	p := res.Page
	if p == nil {
		return
	}
	p.Replay = a.command("replay", res.File)
	p.Draw(a.command("show --as dot", res.File))
	a.leave(pageOf(res.File, p.Violation.Law), p, nil)
}

func phaseAt(res *scenarios.Result, line int) string {
	for _, s := range res.Steps {
		if s.Line == line {
			return s.Phase
		}
	}
	return ""
}

func (a *app) caseOf(t timed) ci.File {
	c := ci.File{Name: t.File, Took: t.took, Page: wrongs(a, t.Result, render.Width)}
	for i, e := range t.Errors {
		law := ""
		if t.Page != nil && i == len(t.Errors)-1 && scenarios.FindVerb(t.Page.Violation.Law) == nil {
			law = t.Page.Violation.Law
		}
		c.Problems = append(c.Problems, a.problem(e, law))
		if e.Code == scenarios.ExitUsage {
			c.Page += e.Error() + "\n"
		}
	}
	return c
}

// pages writes the pages of runs, and an index of them.
type pages struct {
	dir string // the directory for pages; "" for none

	mu   sync.Mutex // guards rows and err, because files are run concurrently
	rows map[string]page.Row
	err  error // the first error of writing a page
}

func newPages(dir string) (*pages, error) {
	s := &pages{dir: dir, rows: map[string]page.Row{}}
	if dir == "" {
		return s, nil
	}
	if err := makeOut(dir); err != nil {
		return nil, usage("--html: %v", err)
	}
	return s, nil
}

// watching returns o with an Inspect that writes the file's HTML page when the run ends. If no pages are wanted, it
// returns o.
func (s *pages) watching(a *app, name string, o scenarios.Options) scenarios.Options {
	if s.dir == "" {
		return o
	}
	o.Inspect = func(r *scenarios.Run) {
		src := page.Whole("the run", &r.World().History, r.Violations())
		src.Replay = a.command("replay", name)
		row := page.Row{Name: titleOf(name), Page: slug(titleOf(name))}
		for _, b := range r.Violations() {
			row.Broken = append(row.Broken, page.Cell{Law: b.Law, Sentence: b.Sentence, Race: b.Race})
		}
		text, err := page.Of(titleOf(name), src).HTML()
		if err == nil {
			err = writeWhole(filepath.Join(s.dir, row.Page), text)
		} else {
			row.Page, row.Why, err = "", err.Error(), nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for other, r := range s.rows {
			if err == nil && r.Page != "" && r.Page == row.Page {
				err = fmt.Errorf("%s and %s have the same page, %s", min(name, other), max(name, other), row.Page)
			}
		}
		s.rows[name] = row
		if s.err == nil {
			s.err = err
		}
	}
	return o
}

// passed records in the row of a file whether the file passed. If it passed, its violations were expected.
func (s *pages) passed(name string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row, ok := s.rows[name]; ok {
		row.Expected = code == scenarios.ExitPass
		s.rows[name] = row
	}
}

func slug(title string) string {
	return strings.NewReplacer("/", "-", "\\", "-").Replace(strings.TrimSuffix(title, extension)) + extensionHTML
}

func (s *pages) index(files []string) error {
	if s.dir == "" {
		return nil
	}
	var rows []page.Row
	for _, name := range files {
		if row, ok := s.rows[name]; ok {
			rows = append(rows, row)
		}
	}
	if s.err == nil {
		s.err = os.WriteFile(filepath.Join(s.dir, "index.html"), page.Index("threelaws run", rows), 0o644)
	}
	if s.err != nil {
		return usage("--html: %v", s.err)
	}
	return nil
}

// checks reports results to continuous integration. add prints the annotations of a result, and write writes the JUnit
// file with all results.
type checks struct {
	junit    string // the path of the JUnit file; "" for none
	annotate bool
	cases    []ci.File
}

func (c *checks) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.junit, "junit", "", "write a JUnit XML file, with one test case for each file")
	fl.BoolVar(&c.annotate, "annotations", c.annotate,
		"print annotations for GitHub Actions; this is the default there")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if dir := filepath.Dir(c.junit); c.junit != "" && !onDisk(dir) {
			return usage("--junit %s: no such directory: %s", c.junit, dir)
		}
		return nil
	}
}

// add adds a result, and prints its annotations. If JSON is printed on stdout, annotations are printed on stderr, which
// GitHub also reads.
func (c *checks) add(a *app, one ci.File) error {
	c.cases = append(c.cases, one)
	if !c.annotate {
		return nil
	}
	if a.json {
		return ci.Annotate(a.err, &one)
	}
	return ci.Annotate(a.out, &one)
}

func (c *checks) write(suite string) error {
	if c.junit == "" {
		return nil
	}
	var b bytes.Buffer
	err := ci.WriteJUnit(&b, suite, c.cases)
	if err == nil {
		err = writeWhole(c.junit, b.Bytes())
	}
	if err != nil {
		return usage("--junit: %v", err)
	}
	return nil
}

func (s *shelf) place(name string) string {
	if name == stdin || !onDisk(name) {
		return ""
	}
	return ci.InRepository(s.workspace, name)
}

// problem converts an error to a problem for continuous integration. law is the violated law, or "".
func (s *shelf) problem(e *scenarios.Error, law string) ci.Problem {
	p := ci.Problem{File: s.place(e.File), Line: e.Line, Text: e.Text}
	if e.Verb != "" {
		p.Text = e.Verb + ": " + p.Text
	}
	if e.Diff != "" {
		p.Text += "\n" + strings.TrimRight(e.Diff, "\n")
	}
	switch {
	case e.Code == scenarios.ExitUsage:
		p.Error, p.Title = true, "bad file"
	case e.Code == scenarios.ExitNondetermine:
		p.Error, p.Title = true, "two runs differ"
	case law != "":
		p.Title = law
	case e.Code == scenarios.ExitNotSettled:
		p.Title = "does not settle"
	case e.Diff != "":
		p.Title = "output differs"
	default:
		p.Title = "not as expected"
	}
	return p
}
