package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/render"
)

func helpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | scenario [VERB] | json [COMMAND]]",
		Short: "explain a command, or the verbs of scenario files",
		Long: `Without arguments lists the commands. "help scenario" lists the verbs of scenario
files, "help scenario VERB" describes one. "help json" lists the keys of all that
--json prints, "help json COMMAND" those of a command.`,
		Example:           "  threelaws help explore\n  threelaws help scenario settle\n  threelaws help json run",
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				explain(a, root)
				return nil
			}
			if args[0] == "scenario" {
				return explainScenario(a, args[1:])
			}
			if args[0] == "json" {
				return explainJSON(a, args[1:])
			}
			if len(args) > 1 {
				return usage("help: one command at a time")
			}
			for _, c := range root.Commands() {
				if c.Name() == args[0] {
					explain(a, c)
					return nil
				}
			}
			topics := append(commandNames(root), "scenario", "json")
			return usage("help: unknown command %s%s", args[0], suggest(args[0], topics))
		},
	}
}

// more is what else help has.
const more = `"threelaws help COMMAND" explains one, "threelaws help scenario" the verbs of scenario files.
Every command takes --json; "threelaws help json" lists what it prints.
`

// explain explains a command, or lists them all for the root.
func explain(a *app, cmd *cobra.Command) {
	j := describe(a, cmd)
	if a.json {
		a.lost = a.encode(j)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nusage: %s\n", strings.ToUpper(j.Summary[:1])+j.Summary[1:], j.Usage)
	if j.Detail != "" {
		b.WriteString("\n" + j.Detail + "\n")
	}
	if len(j.Commands) > 0 {
		t := render.Table{Indent: "  ", Width: a.prose()}
		for _, c := range j.Commands {
			t.Add(c.Name, c.Summary)
		}
		b.WriteString("\ncommands\n" + t.String())
		b.WriteString(a.named("\n"+more+"\n") + exitCodes)
	}
	if j.Flags != "" {
		b.WriteString("\nflags\n" + j.Flags)
	}
	if j.Example != "" {
		b.WriteString("\nexamples\n" + j.Example + "\n")
	}
	a.print(b.String())
}

// explainJSON lists what is printed with --json.
func explainJSON(a *app, args []string) error {
	if len(args) > 1 {
		return usage("help json: one command at a time")
	}
	all := describeOutputs(strings.Join(args, ""))
	if len(all) == 0 {
		var names []string
		for _, o := range describeOutputs("") {
			names = append(names, o.Command)
		}
		return usage("help json: unknown command %s%s", args[0], suggest(args[0], slices.Compact(names)))
	}
	if a.json {
		return a.encode(all)
	}
	var b strings.Builder
	b.WriteString(a.named(casing))
	for _, o := range all {
		head := "threelaws " + o.Command + " --json"
		if o.When != "" {
			head += ", " + o.When
		}
		if o.Lines {
			head += ", one document a line"
		}
		t := render.Table{Indent: "  ", Width: a.prose()}
		for _, k := range o.Keys {
			if k.Optional {
				k.Type += ", or left out"
			}
			t.Add(k.Key, k.Type)
		}
		b.WriteString("\n" + a.named(head) + "\n" + t.String())
	}
	a.print(b.String())
	return nil
}

const casing = `Every command prints JSON with --json. Keys are in lowerCamel; what is an object of
the API has the keys that the API gives it. "[]" stands for each element of a list.
`

// completeHelp offers what help is there for.
func completeHelp(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var words []string
	switch {
	case len(args) == 0:
		words = append(commandNames(cmd.Root()), "scenario", "json")
	case len(args) == 1 && args[0] == "scenario":
		words = verbNames()
	case len(args) == 1 && args[0] == "json":
		words = commandNames(cmd.Root())
	}
	return beginning(words, "", begun), cobra.ShellCompDirectiveNoFileComp
}
