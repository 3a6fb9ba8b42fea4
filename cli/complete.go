package cli

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

type completing = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

func completeWords(words ...string) completing {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return beginning(words, "", begun), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeList(words []string) completing {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		done := begun[:strings.LastIndex(begun, ",")+1]
		named := strings.Split(done, ",")
		left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(named, w) })
		return beginning(left, done, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFiles completes names of scenario files: first a directory or a family (a directory of the library), then a
// file in it. most is the maximal number of files that the command takes; 0 means any number.
func completeFiles(s *shelf, most int) completing {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offered := append(filesBeginning(begun), beginning(s.stage(strings.Contains(begun, "/")), "", begun)...)
		goesOn := func(name string) bool { return strings.HasSuffix(name, "/") }
		if slices.ContainsFunc(offered, goesOn) {
			return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// stage returns words for the shell's completion. If within is set, it returns the library files in a directory, such
// as "job/adoption". Otherwise it returns the directories, such as "job/", and all other files.
func (s *shelf) stage(within bool) []string {
	var words []string
	for _, w := range s.words() {
		switch {
		case strings.Contains(w, "/") == within:
			words = append(words, w)
		case !within:
			words = append(words, path.Dir(w)+"/")
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return !within && slices.Contains(words, w+"/") })
}

func filesBeginning(begun string) []string {
	dir, name := filepath.Split(begun)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	var fit []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		switch {
		case hidden || !strings.HasPrefix(e.Name(), name):
		case e.IsDir():
			fit = append(fit, dir+e.Name()+"/")
		case strings.HasSuffix(e.Name(), extension):
			fit = append(fit, dir+e.Name())
		}
	}
	return fit
}

func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// beginning adds the prefix before to each word, and returns the results that begin with begun.
func beginning(words []string, before, begun string) []string {
	var fit []string
	for _, w := range words {
		if strings.HasPrefix(before+w, begun) {
			fit = append(fit, before+w)
		}
	}
	slices.Sort(fit)
	return slices.Compact(fit)
}

func complete(cmd *cobra.Command, flag string, with completing) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // the flag does not exist, or already has a completion
	}
}

// controllerWords returns the words for controllers in scenario files: names without and with an era, and aliases.
func controllerWords(g *scenarios.Registry) []string {
	var words []string
	for _, c := range g.Controllers {
		words = append(words, c.Name)
		if c.Era != "" {
			words = append(words, c.Name+"@"+c.Era)
		}
	}
	for alias := range g.Aliases {
		words = append(words, alias)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// faultWords returns the names of faults, each with the number 1.
func faultWords() []string {
	return names(host.FaultNames, func(name string) string { return name + ":1" })
}

func verbNames() []string {
	return names(scenarios.Verbs(), func(v *scenarios.Verb) string { return v.Name })
}

func commandNames(root *cobra.Command) []string {
	return names(root.Commands(), (*cobra.Command).Name)
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

type completionJSON struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

func completionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a script that lets a shell complete the command line",
		Long: `Prints the script for a shell. The script completes files, and the names of scenarios,
mutants, laws, controllers, eras and faults.`,
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
