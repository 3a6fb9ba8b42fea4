// Package kept keeps the files of failures in a directory, and replays them.
package kept

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// Keep writes the file that replays a failure into a directory, and returns its path.
func Keep(dir string, f *scenarios.Counterexample) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	sum := fnv.New32a()
	sum.Write(f.File)
	path := filepath.Join(dir, fmt.Sprintf("%s-%04x.txtar", f.Law, sum.Sum32()&0xffff))
	return path, f.WriteFile(path)
}

// Replace overwrites the file at a path with a minimized failure. With an empty path it works like [Keep].
func Replace(path, dir string, f *scenarios.Counterexample) (string, error) {
	if path == "" {
		return Keep(dir, f)
	}
	return path, f.WriteFile(path)
}

// Files lists the files that Keep has written to a directory, by name.
func Files(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.txtar"))
	return files
}

// Replayed is the result of replaying a kept failure.
type Replayed struct {
	Page   *render.Page       // of the failure that happened again, or nil
	Errors []*scenarios.Error // why the file cannot be run; empty if it can
	Unfit  bool               // its schedule does not fit any more: the controllers act differently
}

// Replay runs the file of a failure once.
func Replay(g *scenarios.Registry, path string) *Replayed {
	r := &Replayed{}
	res := scenarios.RunFile(path, scenarios.Options{Registry: g, Inspect: func(run *scenarios.Run) {
		for _, f := range run.Failures() {
			if r.Page == nil && violates(run, &f) {
				r.Page = run.Page(&f)
			}
		}
	}})
	unfit := func(e *scenarios.Error) bool { return strings.Contains(e.Text, "the schedule does not fit the file") }
	switch {
	case r.Page != nil:
	case res.ExitCode == scenarios.ExitUsage && slices.ContainsFunc(res.Errors, func(e *scenarios.Error) bool {
		return !unfit(e)
	}):
		r.Errors = res.Errors
	default:
		r.Unfit = len(res.Errors) > 0
	}
	return r
}

// violates reports whether a failure violates a law or an expectation. A world may stay unsettled because the file ends
// while a watch is paused: a right controller retries until it is resumed.
func violates(run *scenarios.Run, f *scenarios.Failure) bool {
	return f.Code != scenarios.ExitNotSettled || slices.ContainsFunc(run.Violations(), func(m render.Mark) bool {
		return m.Law == f.Violation.Law
	})
}

// Leave writes the page of a failure beside the file that replays it, and makes git ignore pages: only the file should
// be kept. found returns the run before minimizing, or nil.
func Leave(path string, p *render.Page, found func() *render.Page) error {
	text, err := page.Counterexample(p, found).HTML()
	if err != nil {
		return err
	}
	html := strings.TrimSuffix(path, ".txtar") + ".html"
	if err := os.WriteFile(html, text, 0o644); err != nil {
		return err
	}
	p.HTML = html
	ignore := filepath.Join(filepath.Dir(path), ".gitignore")
	if _, err := os.Stat(ignore); err == nil {
		return nil
	}
	return os.WriteFile(ignore, []byte("*.html\n.gitignore\n"), 0o644)
}
