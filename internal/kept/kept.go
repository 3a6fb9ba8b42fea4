// Package kept stores failures as scenario files in a directory, and replays them.
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

// Keep writes a scenario file into a directory. Running the file replays the failure. Keep returns the file's path.
func Keep(dir string, f *scenarios.Counterexample) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	sum := fnv.New32a()
	sum.Write(f.File)
	path := filepath.Join(dir, fmt.Sprintf("%s-%04x.txtar", f.Law, sum.Sum32()&0xffff))
	return path, f.WriteFile(path)
}

// Replace overwrites a file with a minimized failure. If path is "", it calls [Keep].
func Replace(path, dir string, f *scenarios.Counterexample) (string, error) {
	if path == "" {
		return Keep(dir, f)
	}
	return path, f.WriteFile(path)
}

// Files lists the .txtar files in a directory, sorted by name. [Keep] writes such files.
func Files(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.txtar"))
	return files
}

// Replayed is the result of replaying a kept failure. If the failure was corrected, its minimized world may violate another
// law, because minimizing removes what it does not need. For example, nobody deletes an object whose name a right
// controller waits for. The case, which is explored then, decides whether the other law is violated.
type Replayed struct {
	Page   *render.Page       // the page of the failure; nil if there was none
	Other  string             // the law that Page violates, if the file was kept for another one
	Errors []*scenarios.Error // why the file cannot be run
	Unfit  bool               // the schedule or an expectation no longer fits, because the controllers act differently
}

// Replay runs a failure's file once.
func Replay(g *scenarios.Registry, path string) *Replayed {
	r := &Replayed{}
	res := scenarios.RunFile(path, scenarios.Options{Registry: g, Inspect: func(run *scenarios.Run) {
		for _, f := range run.Failures() {
			same := strings.HasPrefix(filepath.Base(path), f.Violation.Law+"-")
			if violates(run, &f) && (r.Page == nil || same) {
				r.Page = run.Page(&f)
			}
		}
	}})
	mistake := func(e *scenarios.Error) bool {
		return e.Code == scenarios.ExitUsage && !strings.Contains(e.Text, "the schedule does not fit the file") &&
			!strings.Contains(e.Text, "is Go code that this program does not have")
	}
	switch {
	case r.Page != nil:
		if law := r.Page.Violation.Law; !strings.HasPrefix(filepath.Base(path), law+"-") {
			r.Other = law
		}
	case res.ExitCode == scenarios.ExitUsage && slices.ContainsFunc(res.Errors, mistake):
		r.Errors = res.Errors
	default:
		r.Unfit = len(res.Errors) > 0
	}
	return r
}

// violates reports whether a failure is a violation of a law or of an expectation. A world that does not settle may
// violate neither. For example, a right controller may retry forever if a file ends while a watch is paused.
func violates(run *scenarios.Run, f *scenarios.Failure) bool {
	return f.Code != scenarios.ExitNotSettled || slices.ContainsFunc(run.Violations(), func(m render.Mark) bool {
		return m.Law == f.Violation.Law
	})
}

// Leave writes the page of a failure next to the file that replays the failure. If the directory has no .gitignore,
// Leave writes one that ignores pages, because only the file should be committed. found, if not nil, returns the page
// of the run before minimizing, or nil.
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
