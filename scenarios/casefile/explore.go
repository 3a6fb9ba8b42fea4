package casefile

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Explore draws or enumerates the case's schedules and returns the results. The case sets the fault budget, and the
// number of schedules if the options do not. The name is the file's, in messages and in output. An error is a mistake
// in the case, or a run that is not a function of its schedule.
func (c *Case) Explore(ctx context.Context, name string, o scenarios.ExploreOptions) (
	x *scenarios.Exploration, err error,
) {
	f, t, err := c.compile(name)
	if err != nil {
		return nil, err
	}
	if o.Schedules == 0 {
		o.Schedules = c.Schedules
		if c.Exhaustive && o.Strategy == "" {
			o.Strategy = "exhaustive"
		}
	}
	if c.Time > 0 && o.Enough == nil {
		until := time.Now().Add(c.Time)
		o.Enough = func(drawn int) bool { return drawn > 0 && time.Now().After(until) }
	}
	o.Faults, o.Strict, o.Said = c.Faults, c.Strict, true
	defer Catch(&err) // the default schedule runs here, before any other
	x, err = scenarios.Explore(ctx, f, len(f.Steps), c.Registry(), o)
	if err != nil {
		return nil, t.explain(err)
	}
	for i, v := range x.Vain {
		if at := t.at(f.Steps[v.Step].Line); at != nil {
			x.Vain[i].Text = at.name + ": " + v.Text
		}
	}
	return x, nil
}

// Script returns the case as a program that runs once under any choices.
func (c *Case) Script(name string) (*scenarios.Script, error) {
	f, err := c.File(name)
	if err != nil {
		return nil, err
	}
	return &scenarios.Script{File: f, Registry: c.Registry(), Until: len(f.Steps), Faults: c.Faults,
		Strict: c.Strict}, nil
}

// Catch, when deferred, turns the panic of a wrongly wired controller into an error.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case law.Misuse:
		*err = mistake("%s", r.Error())
	case host.Misuse:
		*err = mistake("%s", strings.TrimPrefix(r.Error(), "host: "))
	default:
		panic(r)
	}
}

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

// Kept lists the files that Keep has written to a directory, by name.
func Kept(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.txtar"))
	return files
}

// Replayed is the result of replaying a kept failure.
type Replayed struct {
	Page   *scenarios.Page    // of the failure that happened again, or nil
	Errors []*scenarios.Error // why the file cannot be run; empty if it can
	Unfit  bool               // its schedule does not fit any more: the controllers act differently
}

// Replay runs the file of a failure once.
func Replay(g *scenarios.Registry, path string) *Replayed {
	r := &Replayed{}
	res := scenarios.RunFile(path, scenarios.Options{Registry: g, Inspect: func(run *scenarios.Run) {
		for _, f := range run.Failures() {
			if r.Page == nil {
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

// Leave writes the page of a failure beside the file that replays it, and makes git ignore pages: only the file should
// be kept. found returns the run before minimizing, or nil.
func Leave(path string, p *scenarios.Page, found func() *scenarios.Page) error {
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
