package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

const exitCodes = `exit codes
  0    pass
  1    a law is broken, or output differs
  2    bad file or usage
  3    did not settle
  4    two runs of one schedule differ
  130  interrupted before anything was found
Of several files the worst one counts: 2, then 4, 1, 3.
`

func (a *app) helpTopics() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | scenario [VERB]]",
		Short: "explain a command, or the verbs of scenario files",
		Long: `Without arguments lists the commands. "help scenario" lists the verbs of scenario
files, "help scenario VERB" describes one.`,
		Example: "  threelaws help explore\n  threelaws help scenario\n  threelaws help scenario settle",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				a.helpCommand(root)
				return nil
			}
			if args[0] == "scenario" {
				return a.helpScenario(args[1:])
			}
			if len(args) > 1 {
				return usage("help: one command at a time")
			}
			for _, c := range root.Commands() {
				if c.Name() == args[0] {
					a.helpCommand(c)
					return nil
				}
			}
			return usage("help: unknown command %s%s", args[0], suggest(args[0], append(commandNames(root), "scenario")))
		},
	}
}

// commandJSON is one command for --json.
type commandJSON struct {
	Name     string        `json:"name"`
	Usage    string        `json:"usage"`
	Summary  string        `json:"summary"`
	Detail   string        `json:"detail,omitempty"`
	Flags    string        `json:"flags,omitempty"`
	Example  string        `json:"example,omitempty"`
	Commands []commandJSON `json:"commands,omitempty"`
}

// named puts the program's name into a text that calls it threelaws.
func (a *app) named(text string) string {
	return strings.ReplaceAll(text, "threelaws ", a.name+" ")
}

func (a *app) describe(c *cobra.Command) commandJSON {
	j := commandJSON{Name: c.Name(), Usage: c.UseLine(), Summary: c.Short, Detail: a.named(c.Long), Example: a.named(c.Example)}
	if c.HasParent() {
		c.InitDefaultHelpFlag()
		j.Flags = c.Flags().FlagUsagesWrapped(render.Width - 2)
	}
	for _, sub := range c.Commands() {
		j.Commands = append(j.Commands, a.describe(sub))
	}
	return j
}

// helpCommand explains a command, or lists them all for the root.
func (a *app) helpCommand(cmd *cobra.Command) {
	j := a.describe(cmd)
	if a.json {
		a.encode(j)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nusage: %s\n", strings.ToUpper(j.Summary[:1])+j.Summary[1:], j.Usage)
	if j.Detail != "" {
		b.WriteString("\n" + j.Detail + "\n")
	}
	if len(j.Commands) > 0 {
		t := render.Table{Indent: "  "}
		for _, c := range j.Commands {
			t.Add(c.Name, c.Summary)
		}
		b.WriteString("\ncommands\n" + t.String())
		b.WriteString(a.named("\n\"threelaws help COMMAND\" explains one, \"threelaws help scenario\" the verbs of scenario files.\nEvery command takes --json.\n\n") + exitCodes)
	}
	if j.Flags != "" {
		b.WriteString("\nflags\n" + j.Flags)
	}
	if j.Example != "" {
		b.WriteString("\nexamples\n" + j.Example + "\n")
	}
	a.print(b.String())
}

// verbJSON is one verb for --json.
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

// helpScenario lists the verbs, or describes one.
func (a *app) helpScenario(args []string) error {
	if len(args) > 1 {
		return usage("help scenario: one verb at a time")
	}
	if len(args) == 1 {
		v := scenarios.FindVerb(args[0])
		if v == nil {
			var names []string
			for _, v := range scenarios.Verbs() {
				names = append(names, v.Name)
			}
			return usage("help scenario: unknown verb %s%s", args[0], suggest(args[0], names))
		}
		if a.json {
			return a.encode(verbOf(v))
		}
		a.print(verbText(verbOf(v)))
		return nil
	}
	var all []verbJSON
	t := render.Table{Indent: "  "}
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

const format = `A scenario file is a txtar archive: a script of verbs, one a line, and manifests
below it. The lines beneath ---- are what the step above printed; they end at a
blank line, and "threelaws run --update" rewrites them. A step with ! in front is
expected to break a law, not to settle, or to be refused.

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

func verbText(v verbJSON) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s%s.\n", v.Name, v.Args, strings.ToUpper(v.Summary[:1]), v.Summary[1:])
	if v.Detail != "" {
		b.WriteString("\n" + strings.TrimSpace(v.Detail) + "\n")
	}
	if len(v.Params) > 0 {
		t := render.Table{Indent: "  "}
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
