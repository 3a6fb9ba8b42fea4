package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

func helpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | scenario [VERB] | json [COMMAND]]",
		Short: "explain a command, or the verbs of scenario files",
		Long: `Without arguments, help lists the commands. "help scenario" lists the verbs of scenario
files, and "help scenario VERB" describes one verb. "help json" lists the keys of the
JSON output of all commands, and "help json COMMAND" those of one command.`,
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

const more = `"threelaws help COMMAND" explains a command. "threelaws help scenario" lists the verbs of
scenario files. Every command has the flag --json. "threelaws help json" lists its keys.
`

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

const casing = `Every command prints JSON with --json. Keys are in lowerCamelCase. Objects of the
Kubernetes API have the keys of the API. "[]" stands for each element of a list.
`

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

func explainScenario(a *app, args []string) error {
	if len(args) > 1 {
		return usage("help scenario: one verb at a time")
	}
	if len(args) == 1 {
		v := scenarios.FindVerb(args[0])
		if v == nil {
			return usage("help scenario: unknown verb %s%s", args[0], suggest(args[0], verbNames()))
		}
		if a.json {
			return a.encode(verbOf(v))
		}
		a.print(verbText(verbOf(v), a.prose()))
		return nil
	}
	var all []verbJSON
	t := render.Table{Indent: "  ", Width: a.prose()}
	for _, v := range scenarios.Verbs() {
		all = append(all, verbOf(v))
		t.Add(v.Name, v.Summary)
	}
	if a.json {
		return a.encode(all)
	}
	a.print(a.named(format + "\nverbs\n" + t.String() + "\n\"threelaws help scenario VERB\" describes one.\n"))
	return nil
}

const format = `A scenario file is a txtar archive. It begins with a script, which has one verb per
line. Below the script are sections with manifests. The lines below ---- are the expected
output of the step above, up to the next blank line. "threelaws run --update" rewrites
them. A step with ! in front must violate a law, be refused, or not settle.

  # Two ReplicaSets select one orphan Pod. The loser of the race leaves it alone.
  controllers replicaset@controllerref
  apply world.yaml
  settle
  ----
    1  0s  rs/web-a  adopt  pod/p1  controller: none -> rs/web-a
  settled at 0s after 1 write

  -- world.yaml --
  apiVersion: v1
  kind: Pod
  ...
`

func verbText(v verbJSON, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s%s.\n", v.Name, v.Args, strings.ToUpper(v.Summary[:1]), v.Summary[1:])
	if v.Detail != "" {
		b.WriteString("\n" + strings.TrimSpace(v.Detail) + "\n")
	}
	if len(v.Params) > 0 {
		t := render.Table{Indent: "  ", Width: width}
		for _, p := range v.Params {
			text := p.Summary
			if len(p.Values) > 0 {
				text += ": " + strings.Join(p.Values, ", ")
			}
			t.Add(p.Name, text)
		}
		b.WriteString("\nparameters\n" + t.String())
	}
	if v.Example != "" {
		b.WriteString("\nexample\n" + indent(strings.TrimSpace(v.Example)+"\n"))
	}
	return b.String()
}

type commandJSON struct {
	Name     string        `json:"name"`
	Usage    string        `json:"usage"`
	Summary  string        `json:"summary"`
	Detail   string        `json:"detail,omitempty"`
	Flags    string        `json:"flags,omitempty"`
	Example  string        `json:"example,omitempty"`
	Commands []commandJSON `json:"commands,omitempty"`
}

func describe(a *app, c *cobra.Command) commandJSON {
	j := commandJSON{Name: c.Name(), Usage: c.UseLine(), Summary: c.Short,
		Detail: a.named(c.Long), Example: a.named(c.Example)}
	if c.HasParent() {
		c.InitDefaultHelpFlag()
		j.Flags = c.Flags().FlagUsagesWrapped(a.prose() - 2)
	}
	for _, sub := range c.Commands() {
		j.Commands = append(j.Commands, describe(a, sub))
	}
	return j
}

type verbJSON struct {
	Name    string      `json:"name"`
	Args    string      `json:"args,omitempty"`
	Summary string      `json:"summary"`
	Detail  string      `json:"detail,omitempty"`
	Params  []paramJSON `json:"params,omitempty"`
	Example string      `json:"example,omitempty"`
}

type paramJSON struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	Values  []string `json:"values,omitempty"`
}

func verbOf(v *scenarios.Verb) verbJSON {
	j := verbJSON{Name: v.Name, Args: v.Args, Summary: v.Summary, Detail: v.Detail, Example: v.Example}
	for _, p := range v.Params {
		j.Params = append(j.Params, paramJSON{p.Name, p.Summary, p.Values})
	}
	return j
}
