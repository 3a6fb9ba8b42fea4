// Package evidence compares controllers with clauses. It finds the scenarios, mutants and recorded cases of each
// clause, and explores which clauses each controller keeps in each era. It writes pages of docs from the results.
//
// A clause (see package clause) is one requirement that can be checked. An era is the behavior of a controller in one
// period of Kubernetes. A mutant is a controller without one of its checks.
package evidence

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

type Options struct {
	Controller string // explore only this one; "" for all
	Era        string // explore only this one; "" for all
	Schedules  int    // the number of schedules of each world
}

type examined struct {
	w    *world
	x    *scenarios.Exploration
	pins []string // the result of unlawed for the world's file
	err  error
}

// Examine explores the worlds of a registry's controllers. It returns which clauses each controller keeps in each era.
// The result depends only on the options, not on the number of cores.
func Examine(ctx context.Context, files []*scenarios.File, g *scenarios.Registry, o Options) (*Examination, error) {
	all := ControllerEras(g)
	worlds, pinned, err := plan(files, g, all, o)
	if err != nil {
		return nil, err
	}
	results := make([]examined, len(worlds)+len(pinned))
	each(ctx, len(results), func(i int) {
		if i < len(worlds) {
			results[i] = explored(ctx, worlds[i], g, o)
		} else {
			results[i] = ownScript(ctx, pinned[i-len(worlds)], g, o)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := newReport(g, all, o)
	for i := range results {
		if results[i].err != nil {
			return nil, results[i].err
		}
		r.add(&results[i])
	}
	r.finish(Coverage(files, g))
	return r, r.shorten(ctx, g, o)
}

// plan lists the worlds to explore: the scenarios in the newest era, and the worlds of [standard] in every era. Many
// scenarios never settle in older eras. pinned holds the files whose comments name a clause that no law checks.
func plan(
	files []*scenarios.File, g *scenarios.Registry, all []ControllerEra, o Options,
) (worlds, pinned []*world, err error) {
	add := func(name string, text []byte, eras []string) error {
		for _, era := range eras {
			for _, faults := range []map[string]int{nil, everyFault()} {
				w, err := in(name, text, era, g, all)
				if err != nil {
					return err
				}
				w.faults = faults
				if old := era != ""; w.wanted(o) &&
					(!old || w.of(era) && (faults == nil || !w.selecting())) {
					worlds = append(worlds, w)
				}
			}
		}
		return nil
	}
	for _, f := range files {
		if whole(f) {
			if err := add(f.Name, f.Format(), []string{""}); err != nil {
				return nil, nil, err
			}
		}
		if len(unlawed(f, g)) > 0 {
			w := &world{file: f, text: f.Format()}
			for _, name := range cast(f, g) {
				w.cast = append(w.cast, newest(name, all)...)
			}
			if w.wanted(o) {
				pinned = append(pinned, w)
			}
		}
	}
	for _, s := range all {
		texts := standard(s.Name)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if !s.Newest {
				break
			}
			if err := add(name, texts[name], eras(s.Name, all)); err != nil {
				return nil, nil, err
			}
		}
	}
	return worlds, pinned, nil
}

// of reports whether a controller of the world runs in an era.
func (w *world) of(era string) bool {
	return slices.ContainsFunc(w.cast, func(s ControllerEra) bool { return s.Era == era })
}

func (w *world) wanted(o Options) bool {
	return slices.ContainsFunc(w.cast, func(s ControllerEra) bool { return o.wants(&s) })
}

func (o *Options) wants(s *ControllerEra) bool {
	return (o.Controller == "" || o.Controller == s.Name) && (o.Era == "" || o.Era == s.Era)
}

func everyFault() map[string]int {
	faults := map[string]int{}
	for _, name := range host.FaultNames {
		faults[name] = 1
	}
	return faults
}

// unlawed returns the IDs of clauses in the comments of a file, if no law checks them. It leaves out clauses about the
// server and the tool.
func unlawed(f *scenarios.File, g *scenarios.Registry) []string {
	var ids []string
	for _, id := range clause.In(comments(f)) {
		c := clause.ByID(id)
		if c != nil && !slices.ContainsFunc(g.Laws, lawOf(c)) && c.About != clause.Server && c.About != clause.Tool {
			ids = append(ids, id)
		}
	}
	return ids
}

// explored explores a world, with fewer schedules for older eras. Runs continue after a violation.
func explored(ctx context.Context, w *world, g *scenarios.Registry, o Options) examined {
	n := o.Schedules
	switch {
	case w.selecting():
		n = (n + oldTimes - 1) / oldTimes
	case w.old():
		n = (n + 1) / 2
	}
	x, err := scenarios.Explore(ctx, w.file, -1, g, scenarios.ExploreOptions{Schedules: n, Seed: 1,
		Faults: maps.Clone(w.faults), LawsOnly: true, Whole: true, Workers: 1, Steps: mostSteps})
	return examined{w: w, x: x, err: err}
}

// oldTimes divides the number of schedules for eras that use selectors. In these eras nearly every schedule violates
// the same clauses, and many runs end in a fight.
const oldTimes = 5

// mostSteps limits the length of a run. The limit is three times the steps of the default schedule, plus mostSteps. The
// longest runs that settle take a thousand steps. If objects pile up, each step takes longer.
const mostSteps = 4_000

// ownScript runs a file's own script, with its expectations, under other schedules.
func ownScript(ctx context.Context, w *world, g *scenarios.Registry, o Options) examined {
	x, err := scenarios.Explore(ctx, w.file, -1, g, scenarios.ExploreOptions{Schedules: o.Schedules, Seed: 1,
		Workers: 1, First: true, Budget: 1, Steps: mostSteps})
	return examined{w: w, x: x, err: err, pins: unlawed(w.file, g)}
}

func each(ctx context.Context, n int, f func(i int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
}

// Cover lists the tests of one clause.
type Cover struct {
	*clause.Clause

	Law       *law.Law // the law or invariant that checks the clause; nil for none
	Scenarios []string // files whose comments name the clause
	Kills     []Kill   // mutants that the law finds
}

// Kill is a mutant that a law finds in a scenario.
type Kill struct {
	Mutant string
	File   string
	Line   int
}

// Coverage returns the tests of each clause, in the order of the clauses. A file tests the clauses that its comments
// name. The golden text of a mutant step names the law that finds the mutant. Coverage trusts this text.
func Coverage(files []*scenarios.File, g *scenarios.Registry) []*Cover {
	pins, kills := map[string][]string{}, map[string][]Kill{}
	for _, f := range files {
		for _, id := range clause.In(comments(f)) {
			pins[id] = append(pins[id], f.Name)
		}
		for _, s := range f.Steps {
			if s.Verb != "mutant" {
				continue
			}
			if by := killer(s); by != "" {
				k := Kill{s.Word(0), f.Name, s.Line}
				if !slices.ContainsFunc(kills[by], func(o Kill) bool { return o.Mutant == k.Mutant }) {
					kills[by] = append(kills[by], k)
				}
			}
		}
	}
	var all []*Cover
	for _, c := range clause.All() {
		v := &Cover{Clause: c, Scenarios: pins[c.ID]}
		if i := slices.IndexFunc(g.Laws, lawOf(c)); i >= 0 {
			v.Law, v.Kills = g.Laws[i], kills[g.Laws[i].Name]
		}
		all = append(all, v)
	}
	return all
}

// Lacks returns the evidence that a clause lacks, or "". A law must kill a mutant, because otherwise it may never
// report anything. A scenario, test or recorded case must cover the clause.
func (c *Cover) Lacks() string {
	pinned := len(c.Tests) > 0 || len(c.Cases) > 0
	switch {
	case c.Law != nil && c.Law.New != nil && len(c.Kills) == 0 && !pinned:
		return "its law kills no mutant"
	case len(c.Scenarios) == 0 && len(c.Kills) == 0 && !pinned:
		return "no scenario, test or recorded case covers it"
	}
	return ""
}

func comments(f *scenarios.File) string {
	var b strings.Builder
	for line := range strings.Lines(string(f.Format())) {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if line[0] == '#' {
			b.WriteString(line)
		}
	}
	return b.String()
}

// killer returns the law in the golden text of a mutant step, such as "killed by adopt-fresh: ...", or "".
func killer(s *scenarios.Step) string {
	text, ok := strings.CutPrefix(s.Golden, "killed by ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(text, " ")
	return strings.TrimRight(name, ":\n")
}
