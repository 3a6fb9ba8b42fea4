package main

import (
	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/render"
)

func (a *app) showCommand() *cobra.Command {
	as, verbose := "timeline", false
	cmd := &cobra.Command{
		Use:   "show [flags] FILE",
		Short: "show a file's run as a timeline, an ownership tree, a graph or records",
		Long: `Runs the file in its schedule, those of its steps left out that explore, and
shows the run:

  timeline  the writes, refusals and faults, in order; "!" marks a broken law
  tree      who owns what in the end
  dot       the same as a graph in the language of Graphviz
  json      every record of the history, one JSON object a line`,
		Example: "  threelaws show FILE\n  threelaws show --as dot FILE | dot -Tsvg > owners.svg",
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && !cmd.Flags().Changed("as") {
				as = "json"
			}
			if err := oneOf("as", as, "timeline", "tree", "dot", "json"); err != nil {
				return err
			}
			var h sim.History
			var breaches []render.Breach
			_, err := a.watch(args[0], scenarios.Options{Inspect: func(r *scenarios.Run) {
				h, breaches = r.World().History, r.Breaches()
			}})
			if err != nil {
				return err
			}
			return a.show(&h, breaches, as, verbose)
		},
	}
	cmd.Flags().StringVar(&as, "as", as, "timeline, tree, dot or json")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "timeline: status writes too")
	return cmd
}

// show prints a run in one of the forms; with --json the text of a form is a
// string, and a timeline its lines.
func (a *app) show(h *sim.History, breaches []render.Breach, as string, verbose bool) error {
	var text string
	switch as {
	case "json":
		return a.records(h)
	case "timeline":
		lines := render.Timeline(h, render.Options{Verbose: verbose, Breaches: breaches})
		if a.json {
			return a.encode(lines)
		}
		text = timeline(lines, breaches)
	case "tree":
		text = render.Tree(render.Objects(h, h.Len()))
	case "dot":
		text = render.DOT(render.Objects(h, h.Len()))
	}
	if a.json {
		return a.encode(map[string]string{as: text})
	}
	if text == "" {
		text = scenarios.None + "\n"
	}
	a.print(text)
	return nil
}

// timeline renders lines, and says which of them a fight repeats.
func timeline(lines []render.Line, breaches []render.Breach) string {
	for _, b := range breaches {
		if first, last, ok := render.Numbers(lines, b.Cycle); ok {
			return render.Text(lines) + "the fight: " + render.Span(first, last) + ", for ever\n"
		}
	}
	return render.Text(lines)
}
