package cli

import (
	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
)

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

// describe describes a command, in the words of a program of this name.
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

// verbOf describes a verb.
func verbOf(v *scenarios.Verb) verbJSON {
	j := verbJSON{Name: v.Name, Args: v.Args, Summary: v.Summary, Detail: v.Detail, Example: v.Example}
	for _, p := range v.Params {
		j.Params = append(j.Params, paramJSON{p.Name, p.Summary, p.Values})
	}
	return j
}
