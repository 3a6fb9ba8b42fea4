package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/threelaws/threelaws/scenarios"
)

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, a *app, args []string) int {
	var unknown error // help was asked for of a command that is not there
	root := rootCommand(a, &unknown)
	root.SetArgs(doubleDashes(root, args))
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = unknown
	}
	if err == nil && a.lost != nil {
		err = usage("not all could be printed: %v", a.lost)
	}
	if err != nil {
		a.complain(err)
		return scenarios.ExitCode(err)
	}
	return a.code
}

// complain says on standard error what went wrong, and counts it. What is wrong with no
// file is told under the command's name.
func (a *app) complain(err error) {
	var e *scenarios.Error
	if errors.As(err, &e) && e.File == "" {
		e.File = a.name
	}
	fmt.Fprintln(a.err, err)
	a.code = worse(a.code, scenarios.ExitCode(err))
}

// rootCommand makes the tree of commands. Of one that is asked about and is not
// there it leaves word in unknown, as cobra's way to help returns no error.
func rootCommand(a *app, unknown *error) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           a.name + " COMMAND",
		Short:         "Runs Kubernetes controllers under every schedule and checks the laws of ownership",
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return unknownCommand(cmd, args[0])
			case version:
				return printVersion(a)
			}
			return usage("no command is given; %q lists them", a.name+" help")
		},
	}
	root.DisableFlagsInUseLine = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 {
			*unknown = unknownCommand(root, words[0])
			return
		}
		explain(a, cmd)
	})
	root.AddCommand(a.hostsMain(runCommand(a)), a.hostsMain(exploreCommand(a)), mergeCommand(a), checkCommand(a), initCommand(a), testCommand(a),
		a.hostsMain(replayCommand(a)), showCommand(a), lawsCommand(a),
		judgeCommand(a), watchCommand(a), serveCommand(a),
		faultsCommand(a), overlayCommand(a), versionCommand(a),
		completionCommand(a))
	root.SetHelpCommand(helpCommand(a))
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		c.Flags().SortFlags = false
		c.DisableFlagsInUseLine = true
	}
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	return usage("unknown command %s%s", name, suggest(name, commandNames(root)))
}

// doubleDashes lets long flags be typed as go test takes them: -update.
func doubleDashes(root *cobra.Command, args []string) []string {
	long := map[string]bool{}
	for _, c := range append(root.Commands(), root) {
		note := func(f *pflag.Flag) { long[f.Name] = true }
		c.LocalFlags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
	}
	out := slices.Clone(args)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && len(name) > 1 && long[name] {
			out[i] = "-" + arg
		}
	}
	return out
}
