package mutate

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Options are those of the command.
type Options struct {
	Only      []string // packages; all without any
	List      bool     // print the mutations and try none
	Verbose   bool     // print what killed each
	Quick     bool     // scenarios and the tests of the package only
	Processes int
}

// target is what is mutated: the controllers, but for tests, for the mutants that are
// made by hand, and for the list of what there is.
const target = "./controllers/..."

func mutated(pkg string) bool {
	return pkg != "controllers" && pkg != "controllers/mutants" && pkg != "controllers/recorded"
}

// Main mutates the controllers of the module in the working directory, and reports
// whether all is well: no survivor without an excuse, and no excuse without a survivor.
func Main(o *Options, out, progress io.Writer) (bool, error) {
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	p, err := Load(root, target)
	if err != nil {
		return false, err
	}
	chosen := slices.DeleteFunc(slices.Clone(p.Mutations), func(m *Mutation) bool {
		return !mutated(m.Package) || !matches(m.Package, o.Only)
	})
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
	fates, err := b.tryAll(chosen, o, say)
	if err != nil {
		return false, err
	}
	stale := Forgive(fates, Excuses)
	if o.Verbose {
		for _, f := range fates {
			if f.Killed() {
				fmt.Fprintf(out, "killed: %s\n    by %s: %s\n", f, f.By, f.Why)
			}
		}
	}
	Report(out, fates, stale)
	alive := slices.ContainsFunc(fates, func(f *Fate) bool { return !f.Killed() && f.Excuse == nil })
	return len(stale) == 0 && !alive, nil
}

// tryAll tries the default schedules and a few others, and on those that survive what
// takes longer.
func (b *Build) tryAll(chosen []*Mutation, o *Options, say func(string, ...any)) ([]*Fate, error) {
	path, err := b.Command("./internal/mutate/worker")
	if err != nil {
		return nil, err
	}
	s := &Suite{Root: b.root, Path: path, Args: []string{"scenarios/testdata"}, Processes: o.Processes, Progress: say}
	fates := Fates(chosen)
	kind := func(suffix string) func(string) bool {
		return func(check string) bool {
			_, part, _ := strings.Cut(check, " ")
			return part == suffix
		}
	}
	stages := []func() error{
		func() error { return s.Run(fates, kind("")) },
		func() error { return b.tryTests(fates, func(f *Fate) string { return f.Package }, o, say) },
		func() error { return s.Run(fates, kind("explore")) },
		func() error { return s.Run(fates, kind("mutant")) },
		func() error { return b.tryTests(fates, func(*Fate) string { return "controllers" }, o, say) },
		func() error { return b.tryTests(fates, func(*Fate) string { return "controllers/recorded" }, o, say) },
	}
	if o.Quick {
		stages = stages[:4]
	}
	for _, try := range stages {
		if err := try(); err != nil {
			return nil, err
		}
	}
	return fates, nil
}
