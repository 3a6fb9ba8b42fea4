package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// shells are those that cobra writes completions for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// completionJSON is what completion prints with --json.
type completionJSON struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

func completionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a script that lets a shell complete the command line",
		Long: `Prints the script for a shell. What it offers it asks the program itself: files,
the scenarios in the program, mutants, laws, controllers, generations, faults.`,
		Example: `  source <(threelaws completion bash)
  threelaws completion zsh > "${fpath[1]}/_threelaws"
  threelaws completion fish > ~/.config/fish/completions/threelaws.fish`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("completion: one shell must be named: %s", strings.Join(shells, ", "))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeWords(shells...)(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return printCompletion(a, cmd.Root(), args[0]) },
	}
}

func printCompletion(a *app, root *cobra.Command, shell string) error {
	var script strings.Builder
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&script, true)
	case "zsh":
		err = root.GenZshCompletion(&script)
	case "fish":
		err = root.GenFishCompletion(&script, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&script)
	default:
		err = usage("completion: unknown shell %s%s", shell, suggest(shell, shells))
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.encode(completionJSON{shell, script.String()})
	}
	_, err = a.out.Write([]byte(script.String()))
	return err
}
