package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/conform"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// conforming is what conformance was asked.
type conforming struct {
	conform.Options
	checks

	dir, profile, explain string
	html                  string // the directory for pages; "" for none
	markdown              bool
}

func conformanceCommand(a *app) *cobra.Command {
	x := &conforming{dir: defaultDir, checks: checks{annotate: a.annotate}}
	cmd := &cobra.Command{
		Use:   "conformance [flags]",
		Short: "tick off which controller keeps which clause, in each generation",
		Long: `Explores the scenarios in which each controller takes part, and worlds that every
controller is held to, with each of its generations, with and without faults, and says
of each clause of the list whether it held. A clause that nothing came to is "not
asked", never held; one that is none of a controller's says why. What older generations
break they break as expected, with the reason and the shortest way that was found.

Without --controller prints a line for each, and what is not as it should be.
--explain CLAUSE says what a tick rests on: the sentence, where it comes from, the
scenarios and mutants, and the run in which such a mutant breaks it, with the owners
before and after; of a clause that no mutant breaks, a run of its scenario.

--html writes a grid of clauses by controllers into a directory, as index.html, and what
each of its cells leads to: the run that breaks the clause, or what a tick rests on.

The exit code is 1 where a clause is broken that should not be, 5 where one was not asked
for which there is no reason.`,
		Example: "  threelaws conformance\n  threelaws conformance --controller replicaset --generation selector\n" +
			"  threelaws conformance --html pages\n  threelaws conformance --explain ADOPT-4",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := x.check(a); err != nil {
				return err
			}
			names, err := a.below(x.dir)
			if err != nil {
				return err
			}
			var files []*scenarios.File
			for _, name := range names {
				f, err := a.load(name)
				if err != nil {
					return err
				}
				files = append(files, f)
			}
			if x.explain != "" {
				return explainClause(a, x.explain, conform.Coverage(files, a.registry))
			}
			return examine(cmd.Context(), a, x, files)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&x.Controller, "controller", "", "this controller alone, row by row")
	fl.StringVar(&x.Generation, "generation", "", "this generation alone")
	fl.StringVar(&x.profile, "profile", "", "only the clauses that a controller of this profile owes: "+
		strings.Join(law.Profiles(), ", "))
	fl.IntVarP(&x.Schedules, "schedules", "n", 10, "how many schedules of each world")
	fl.IntVar(&x.Workers, "workers", 0, "how many worlds at a time; 0 for one for each core")
	fl.StringVar(&x.explain, "explain", "", "say what a clause rests on, instead")
	fl.BoolVar(&x.markdown, "markdown", false, "print Markdown")
	fl.StringVar(&x.html, "html", "", "write a page of every cell into this directory, and index.html with the grid")
	fl.StringVar(&x.dir, "dir", x.dir, "where the scenarios are; in the program where there is no such directory")
	x.flags(cmd)
	complete(cmd, "dir", completeDirs)
	complete(cmd, "html", completeDirs)
	complete(cmd, "profile", completeWords(law.Profiles()...))
	complete(cmd, "generation", completeWords(a.registry.Generations()...))
	complete(cmd, "explain", completeWords(a.lawIDs()...))
	return cmd
}

// check looks at the flags' values, and takes a controller's other name for its own.
func (x *conforming) check(a *app) error {
	if x.Schedules < 1 {
		return usage("--schedules=%d: at least 1", x.Schedules)
	}
	if x.explain != "" && x.html != "" {
		return usage("--explain and --html: it is one of them; the pages say what every tick rests on")
	}
	if x.Controller != "" {
		c, what := a.registry.Controller(x.Controller)
		if what != "" {
			return usage("--controller: %s", what)
		}
		if x.Controller = c.Name; x.Generation != "" {
			if _, what := a.registry.Controller(c.Name + "@" + x.Generation); what != "" {
				return usage("--generation: %s", what)
			}
		}
	}
	if all := a.registry.Generations(); x.Generation != "" && !slices.Contains(all, x.Generation) {
		return usage("--generation: unknown generation %s%s", x.Generation, suggest(x.Generation, all))
	}
	if x.profile != "" {
		return oneOf("profile", x.profile, law.Profiles()...)
	}
	return nil
}

// lawIDs are the clauses of all laws.
func (a *app) lawIDs() []string {
	var ids []string
	for _, l := range a.registry.Laws {
		ids = append(ids, l.ID)
	}
	return ids
}

// examine explores, and prints what came of it.
func examine(ctx context.Context, a *app, x *conforming, files []*scenarios.File) error {
	if x.html != "" {
		if err := makeOut(x.html); err != nil {
			return usage("--html: %v", err)
		}
	}
	line := a.progress()
	x.Progress = func(done, total int) { line.show("%d of %d worlds explored", done, total) }
	r, err := conform.Examine(ctx, files, a.registry, x.Options)
	line.clear()
	if ctx.Err() != nil {
		a.code = worse(a.code, exitInterrupted)
		return nil
	}
	if err != nil {
		return err
	}
	if x.profile != "" {
		r.Owed(law.Profile(slices.Index(law.Profiles(), x.profile)))
	}
	a.code = worse(a.code, conformanceCode(r))
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if err := x.add(a, caseOf(s, row)); err != nil {
				return err
			}
		}
	}
	if err := x.write("threelaws conformance"); err != nil {
		return err
	}
	if x.html != "" {
		if err := writePages(x.html, r, conform.Coverage(files, a.registry)); err != nil {
			return usage("--html: %v", err)
		}
	}
	switch {
	case a.json:
		return a.encode(conformanceOf(r, a.code))
	case x.markdown:
		a.print(string(conform.Markdown(r)))
	default:
		a.print(conform.Text(r, a.prose(), x.Controller != ""))
	}
	return nil
}

// conformanceCode is the exit code of what was found.
func conformanceCode(r *conform.Report) int {
	code := scenarios.ExitPass
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			switch {
			case row.State == conform.Breaking:
				code = worse(code, scenarios.ExitFail)
			case row.State == conform.Unasked && row.Why == "":
				code = worse(code, exitUncovered)
			}
		}
	}
	return code
}
