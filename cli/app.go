package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// app contains the state that all commands share.
type app struct {
	console
	shelf

	name     string // the program's name in usage and messages
	version  string // the program's version; "" means the version in the build information
	annotate bool   // print annotations for GitHub
	main     string // the main package that --main hosts; "" for none
	registry *scenarios.Registry

	operators func(ctx context.Context, s *settings) (*operator, error)

	code int // the exit code of a command that returns no error
}

// named replaces "threelaws" in a text by the program's name.
func (a *app) named(text string) string {
	return strings.ReplaceAll(text, "threelaws ", a.name+" ")
}

// lawsNamed returns the laws with these names or clause IDs. Without names it returns all laws.
func (a *app) lawsNamed(names []string) ([]*law.Law, error) {
	if len(names) == 0 {
		return a.registry.Laws, nil
	}
	var found []*law.Law
	for _, name := range names {
		id := name
		if c := clause.ByID(strings.ToUpper(name)); c != nil && c.Invariant != "" {
			id = c.Invariant
		}
		i := slices.IndexFunc(a.registry.Laws, func(l *law.Law) bool { return l.Name == name || strings.EqualFold(l.ID, id) })
		if i < 0 {
			return nil, usage("laws: unknown law %s%s", name, suggest(name, a.lawWords()))
		}
		found = append(found, a.registry.Laws[i])
	}
	return found, nil
}

func (a *app) lawWords() []string {
	return append(names(a.registry.Laws, func(l *law.Law) string { return l.Name }),
		names(a.registry.Laws, func(l *law.Law) string { return l.ID })...)
}

func (a *app) mutantNames() []string {
	return names(a.registry.Mutants, func(m host.Mutant) string { return m.Name })
}

func names[T any](list []T, name func(T) string) (all []string) {
	for _, item := range list {
		all = append(all, name(item))
	}
	return all
}

func (a *app) load(arg string) (*scenarios.File, error) {
	name, err := a.one(arg)
	if err != nil {
		return nil, err
	}
	f, err := a.read(name)
	if err != nil {
		return nil, err
	}
	return f, f.Check(a.registry)
}

// watch runs a file without its explore and mutant steps. It returns an error only if the file is missing or invalid.
func (a *app) watch(arg string, o scenarios.Options) (*scenarios.Result, error) {
	f, err := a.load(arg)
	if err != nil {
		return nil, err
	}
	f.Steps = slices.DeleteFunc(f.Steps, func(s *scenarios.Step) bool { return scenarios.FindVerb(s.Verb).Explores() })
	o.Registry = a.registry
	res := scenarios.Interpret(f, o)
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			return nil, e
		}
	}
	return res, nil
}

type console struct {
	out, err io.Writer
	colour   bool // use colours on out
	live     bool // show progress on err by overwriting lines
	width    int  // the width of a page in columns

	json bool // the flag --json

	lost error // the first error of writing to out
}

func (c *console) print(text string) {
	if c.colour {
		text = render.Color(text)
	}
	if _, err := io.WriteString(c.out, text); c.lost == nil {
		c.lost = err
	}
}

func (c *console) printf(format string, args ...any) { c.print(fmt.Sprintf(format, args...)) }

func (c *console) encode(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (c *console) line(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// prose returns the width of running text. Longer lines would be harder to read.
func (c *console) prose() int { return min(c.width, render.Width) }

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// columns returns the width of pages that are written to f. On a terminal, it is the number in env (the value of
// COLUMNS), or the width of the terminal if env is no number. Otherwise it is 100.
func columns(f *os.File, env string) int {
	if !isTerminal(f) {
		return render.Width
	}
	if n, err := strconv.Atoi(env); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return render.Width
}

// progressLine is a line of the terminal that each progress message overwrites. Without a terminal, nothing is printed,
// unless say is set.
type progressLine struct {
	to   io.Writer // the terminal; nil if there is none
	wide int       // the maximal length of the line in characters
	used bool
	say  func(text string)
}

func (c *console) progress() *progressLine {
	if !c.live {
		return &progressLine{}
	}
	return &progressLine{to: c.err, wide: min(c.width, 80) - 1}
}

func (p *progressLine) show(format string, args ...any) {
	if p.say != nil {
		p.say(fmt.Sprintf(format, args...))
	}
	if p.to == nil {
		return
	}
	p.used = true
	fmt.Fprintf(p.to, "\r\x1b[K%.*s", p.wide, fmt.Sprintf(format, args...))
}

func (p *progressLine) clear() {
	if p.used {
		p.used = false
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}

// inOrder calls work for each item, on all cores, and passes the results to take in the order of the items. After ctx
// is done, it starts no further calls of work. It reports whether all items are done.
func inOrder[In, Out any](ctx context.Context, items []In, work func(In) Out, take func(Out)) bool {
	type result struct {
		out  Out
		done bool
	}
	results := make([]chan result, len(items))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				if ctx.Err() != nil {
					results[i] <- result{}
					continue
				}
				results[i] <- result{work(items[i]), true}
			}
		}()
	}
	all := true
	for _, c := range results {
		if r := <-c; r.done {
			take(r.out)
		} else {
			all = false
		}
	}
	return all
}
