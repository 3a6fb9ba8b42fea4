// Command mutants runs the scenarios for the mutants of this module. For each mutant it prints the law that finds it:
//
//	go run -C lab ./cmd/mutants [NAME...]
//
// It exits with 1 if a mutant survives or has no scenario.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/threelaws/threelaws/lab/evidence"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

func main() {
	flag.Parse()
	names := flag.Args()
	g := builtin.Registry()
	files, err := evidence.Files()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	for _, name := range names {
		if !slices.ContainsFunc(g.Mutants, func(m host.Mutant) bool { return m.Name == name }) {
			fmt.Fprintf(os.Stderr, "mutants: unknown mutant %s\n", name)
			os.Exit(2)
		}
	}
	alive := 0
	for _, m := range g.Mutants {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		law, file, err := killer(files, g, m.Name)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		case file == "":
			fmt.Printf("%-50s has no scenario\n", m.Name)
			alive++
		case law == "":
			fmt.Printf("%-50s survives %s\n", m.Name, file)
			alive++
		default:
			fmt.Printf("%-50s killed by %s in %s\n", m.Name, law, file)
		}
	}
	if alive > 0 {
		os.Exit(1)
	}
}

// killer returns the law that finds a mutant, or "", and the last file that was run.
func killer(files []*scenarios.File, g *scenarios.Registry, mutant string) (law, file string, err error) {
	for _, f := range files {
		for i, s := range f.Steps {
			if s.Verb != "mutant" || s.Word(0) != mutant {
				continue
			}
			o, err := s.ExploreOptions()
			if err != nil {
				return "", "", err
			}
			dead, err := scenarios.Kill(f, i, g, mutant, o)
			if err != nil || dead.Law != "" {
				return dead.Law, f.Name, err
			}
			file = f.Name
		}
	}
	return "", file, nil
}
