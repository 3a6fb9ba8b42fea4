// Package mutate changes the controllers mechanically, one place at a time, and reports the changes that no check
// notices. The handmade mutants of package mutants show that each guard is needed. The mutants of this package show
// code that nothing tests.
//
// One program has all mutations ([Sources.Overlay]). Each mutation asks package switches whether it is on. Each check
// first runs without a mutation. This run shows which mutations the check reaches. Then each mutant runs the checks
// that reach it, until one fails. Checks are scenario files, tests, laws in generated worlds, recorded cases, and the
// comparison with upstream's controllers. The overlay adds a TestMain, so that one process can run the tests of a
// package for many mutants.
//
// A survivor is a gap, or has a row in [Excuses].
package mutate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type Options struct {
	Root      string   // the directory of the module that is mutated
	Only      []string // packages to mutate; empty for all
	List      bool     // print the mutations without trying any
	Verbose   bool     // print which check found each mutant
	Quick     bool     // use only default schedules and tests, without handmade mutants
	By        []string // packages whose checks are tried, or "scenarios" for the files; empty for all
	Again     string   // a file with the output of a run with Verbose; mutants killed in that run count as killed
	Checks    string   // like go test -run, for the tests of packages that are not mutated; empty for all
	Every     int      // try one mutation in this many, by number; all for 0 and 1
	Processes int
}

// target is the pattern of the packages to mutate.
const target = "./controllers/..."

func mutated(pkg string) bool {
	return !slices.Contains([]string{"controllers", "controllers/mutants", "controllers/recorded",
		"controllers/states", "controllers/randomworlds"}, pkg)
}

// Main mutates the controllers of a module. It reports whether every survivor has an excuse and every excuse is used.
func Main(o *Options, out, progress io.Writer) (bool, error) {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return false, err
	}
	p, err := Load(root, target)
	if err != nil {
		return false, err
	}
	chosen := slices.DeleteFunc(slices.Clone(p.Mutations), func(m *Mutation) bool {
		return !mutated(m.Package) || !matches(m.Package, o.Only) || m.ID%max(o.Every, 1) != 0
	})
	earlier, err := o.killedEarlier()
	if err != nil {
		return false, err
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("no mutations: no package is called %s", strings.Join(o.Only, ", "))
	}
	if o.List {
		for _, m := range chosen {
			fmt.Fprintf(out, "%d %s\n", m.ID, m)
		}
		return true, nil
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	say := func(format string, args ...any) { fmt.Fprintf(progress, format+"\n", args...) }
	say("%d mutations; building", len(chosen))
	b, err := p.Overlay(root, dir)
	if err != nil {
		return false, err
	}
	t := b.newTrial(o, say)
	var all []*Fate
	for _, pkg := range packagesOf(chosen, o.Only) {
		fates := Fates(slices.DeleteFunc(slices.Clone(chosen), func(m *Mutation) bool { return m.Package != pkg }))
		for _, f := range fates {
			f.By = earlier[f.place()]
		}
		if err := t.try(pkg, fates); err != nil {
			return false, err
		}
		Forgive(fates, Excuses)
		Survivors(out, fates, o.Verbose)
		all = append(all, fates...)
	}
	stale := Forgive(all, Excuses)
	if o.Every > 1 {
		stale = nil // an excuse may be for mutants outside the sample
	}
	Report(out, all, stale)
	alive := slices.ContainsFunc(all, func(f *Fate) bool { return !f.Killed() && f.Excuse == nil })
	return len(stale) == 0 && !alive, nil
}

// packagesOf returns the packages of mutations, in the order of the parameter only.
func packagesOf(list []*Mutation, only []string) []string {
	var names []string
	for _, m := range list {
		if !slices.Contains(names, m.Package) {
			names = append(names, m.Package)
		}
	}
	place := func(pkg string) int {
		return slices.IndexFunc(only, func(o string) bool { return matches(pkg, []string{o}) })
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}

// The lines about killed mutants in the output.
const (
	killedBegins = "killed: "
	byBegins     = "    by "
)

// place identifies a mutation independently of its line.
func (m *Mutation) place() string { return m.File + " " + m.Func + ": " + m.What }

// killedEarlier reads the output of an earlier run, the file o.Again. It returns the name of the check that killed each
// mutant, by the mutant's place.
func (o *Options) killedEarlier() (map[string]string, error) {
	if o.Again == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(o.Again)
	if err != nil {
		return nil, err
	}
	killers, last := map[string]string{}, ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if m, ok := strings.CutPrefix(line, killedBegins); ok {
			file, rest, _ := strings.Cut(m, ":")
			_, what, _ := strings.Cut(rest, " ")
			last = file + " " + what
		} else if by, ok := strings.CutPrefix(line, byBegins); ok {
			killers[last] = by
		}
	}
	if len(killers) == 0 {
		return nil, fmt.Errorf("%s: it lists no mutant as killed: it is to be the output of a run with -v", o.Again)
	}
	return killers, nil
}
