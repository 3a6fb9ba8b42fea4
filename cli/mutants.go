package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// mutantsReport is what mutants prints with --json.
type mutantsReport struct {
	Mutants  []*death `json:"mutants"`
	Killed   int      `json:"killed"`
	ExitCode int      `json:"exitCode"`
}

// death is how a mutant died, or that it did not.
type death struct {
	Mutant  string       `json:"mutant"`
	Summary string       `json:"summary"`
	Clause  string       `json:"clause"`
	Killed  bool         `json:"killed"`
	ID      string       `json:"id,omitempty"`  // of the law, by clause
	Law     string       `json:"law,omitempty"` // that killed it
	Meant   string       `json:"meant,omitempty"`
	Why     string       `json:"why,omitempty"`
	File    string       `json:"file,omitempty"`
	Line    int          `json:"line,omitempty"`
	Step    int          `json:"step,omitempty"`
	Tried   int          `json:"tried"` // schedules
	Page    *render.Page `json:"page,omitempty"`

	err error
}

func mutantsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mutants [flags] [NAME...] [DIR]",
		Short: "show that every mutant is killed, and by which law",
		Long: `A mutant is a controller with one guard removed. For each one, or those that are
named, runs the scenarios that have a step "mutant NAME", until a law breaks, and
names the law: those below DIR, ./scenarios or, where there is none, in the program.
The exit code is 1 when a mutant survives or no scenario is for it.`,
		Example: "  threelaws mutants\n  threelaws mutants replicaset/skip-recheck",
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, dir, err := mutantsNamed(a, args)
			if err != nil {
				return err
			}
			return killAll(cmd.Context(), a, chosen, dir)
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return beginning(a.mutantNames(), "", begun), cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// mutantsNamed tells mutants from the directory among the arguments.
func mutantsNamed(a *app, args []string) (chosen []host.Mutant, dir string, err error) {
	names := a.mutantNames()
	for _, arg := range args {
		if i := slices.Index(names, arg); i >= 0 {
			chosen = append(chosen, a.registry.Mutants[i])
			continue
		}
		if st, err := os.Stat(arg); err != nil || !st.IsDir() {
			return nil, "", usage("mutants: unknown mutant or directory %s%s", arg, suggest(arg, names))
		}
		if dir != "" {
			return nil, "", usage("mutants: two directories, %s and %s: one at a time", dir, arg)
		}
		dir = filepath.Clean(arg)
	}
	if len(chosen) == 0 && len(names) == 0 {
		return nil, "", usage("mutants: %s has none: its registry lists no mutants", a.name)
	}
	if len(chosen) == 0 {
		chosen = a.registry.Mutants
	}
	if dir == "" {
		dir = defaultDir
		if !onDisk(dir) && a.embedded == nil {
			return nil, "", usage("mutants: there is no directory ./%s here; name the one with the scenarios", dir)
		}
	}
	return chosen, dir, nil
}

// killAll tries to kill each mutant and prints how it went, in order.
func killAll(ctx context.Context, a *app, chosen []host.Mutant, dir string) error {
	p, err := a.pins(dir)
	if err != nil {
		return err
	}
	deaths := []*death{}
	width := 0
	for _, m := range chosen {
		width = max(width, len(m.Name))
	}
	killed := 0
	try := func(m host.Mutant) *death { return kill(a, m, p.mutants[m.Name]) }
	done := inOrder(ctx, chosen, try, func(d *death) {
		deaths = append(deaths, d)
		switch {
		case d.err != nil:
			a.code = worse(a.code, scenarios.ExitCode(d.err))
			fmt.Fprintln(a.err, d.err)
		case d.Killed:
			killed++
		default:
			a.code = worse(a.code, scenarios.ExitFail)
		}
		if !a.json {
			a.print(d.text(width, a.width))
		}
	})
	if !done {
		a.code = worse(a.code, exitInterrupted)
	}
	if a.json {
		return a.encode(mutantsReport{deaths, killed, a.code})
	}
	left := ""
	if !done {
		left = fmt.Sprintf(", %d not tried: interrupted", len(chosen)-len(deaths))
	}
	a.printf("%d of %s killed%s\n", killed, plural(len(chosen), "mutant"), left)
	return nil
}

// kill runs the scenarios that are meant for a mutant until one kills it.
func kill(a *app, m host.Mutant, by []killing) *death {
	d := &death{Mutant: m.Name, Summary: m.Sentence, Clause: m.Clause, Meant: m.Law}
	for _, k := range by {
		f, err := a.load(k.path)
		if err != nil {
			d.err = err
			continue
		}
		at := slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return s.Line == k.line })
		o, err := f.Steps[at].ExploreOptions()
		if err != nil {
			d.err = err
			continue
		}
		dead, err := scenarios.Kill(f, at, a.registry, m.Name, o)
		if err != nil {
			var e *scenarios.Error
			if !errors.As(err, &e) {
				e = &scenarios.Error{File: k.path, Line: k.line, Text: err.Error(), Code: scenarios.ExitNondetermine}
			}
			d.err = e
			continue
		}
		d.File, d.Line, d.Tried = k.path, k.line, d.Tried+dead.Tried
		if dead.Law == "" {
			continue
		}
		d.Killed, d.err = true, nil
		d.Law, d.Why, d.Step, d.Page = dead.Law, dead.Why, dead.Step, dead.Page
		if l := a.lawNamed(dead.Law); l != nil {
			d.ID = l.ID
		}
		break
	}
	return d
}

// text is the line of one mutant, with names so wide, in so many columns.
func (d *death) text(names, columns int) string {
	head := fmt.Sprintf("%-*s -> ", names, d.Mutant)
	place := fmt.Sprintf("%s:%d", d.File, d.Line)
	switch {
	case d.Killed:
		by := d.Law
		if d.ID != "" {
			by = d.ID + " " + d.Law
		}
		if d.Step > 0 {
			place += fmt.Sprintf(", step %d", d.Step)
		}
		if d.Meant != "" && d.ID != d.Meant {
			place += "; meant for " + d.Meant
		}
		return fit(head+"killed by "+by, place, columns)
	case d.err != nil:
		return head + "not tried: its scenario cannot be run\n"
	case d.File == "":
		return head + "no scenario is for it\n"
	}
	return fit(head+"survived "+plural(d.Tried, "schedule"), place, columns)
}

// fit puts the place behind the text, or beneath it where the line is full.
func fit(text, place string, columns int) string {
	if len(text)+len(place)+3 > columns {
		return text + "\n    (" + place + ")\n"
	}
	return text + " (" + place + ")\n"
}
