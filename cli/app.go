package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// exitInterrupted is the exit code of a command that was interrupted before it
// found anything.
const exitInterrupted = 130

// severity orders exit codes: of several files the worst one counts. A bad file
// comes first, as nothing was learnt from it; then runs that cannot be trusted.
var severity = []int{
	scenarios.ExitPass, exitInterrupted, scenarios.ExitNotSettled, scenarios.ExitFail,
	scenarios.ExitNondetermine, scenarios.ExitUsage,
}

// worse returns the worse of two exit codes.
func worse(a, b int) int {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}

// app is the command line, and what its commands work with.
type app struct {
	name     string // of the program, as it was called
	version  string
	in       io.Reader
	out, err io.Writer
	registry *scenarios.Registry
	colour   bool // out may be coloured
	live     bool // err may be written over, for progress

	json bool // --json
	code int  // the exit code, if nothing goes wrong
	root *cobra.Command

	unknown error // help was asked for of a command that is not there
}

// run executes one command line and returns its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.root = a.commands()
	a.root.SetArgs(a.doubleDashes(args))
	a.root.SetOut(a.out)
	a.root.SetErr(a.err)
	err := a.root.ExecuteContext(ctx)
	if err == nil {
		err = a.unknown
	}
	if err != nil {
		var e *scenarios.Error
		if errors.As(err, &e) && e.File == "" {
			e.File = a.name
		}
		fmt.Fprintln(a.err, err)
		return scenarios.ExitCode(err)
	}
	return a.code
}

// commands makes the tree of commands.
func (a *app) commands() *cobra.Command {
	root := &cobra.Command{
		Use:           a.name + " COMMAND",
		Short:         "Runs Kubernetes controllers under every schedule and holds them against the laws of ownership",
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("no command is given; %q lists them", a.name+" help")
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.DisableFlagsInUseLine = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 {
			a.unknown = unknownCommand(root, words[0])
			return
		}
		a.helpCommand(cmd)
	})
	root.Version = a.version
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(a.runCommand(), a.exploreCommand(), a.replayCommand(), a.showCommand(), a.lawsCommand(), a.mutantsCommand(), a.serveCommand())
	root.SetHelpCommand(a.helpTopics())
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		c.Flags().SortFlags = false
		c.DisableFlagsInUseLine = true
	}
	return root
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

func unknownCommand(root *cobra.Command, name string) error {
	return usage("unknown command %s%s", name, suggest(name, commandNames(root)))
}

// usage is a mistake on the command line. The program's name is put before it
// where it is printed.
func usage(format string, args ...any) error {
	return &scenarios.Error{Text: fmt.Sprintf(format, args...), Code: scenarios.ExitUsage}
}

// suggest names the valid word nearest to what was typed, or lists them.
func suggest(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	if len(valid) == 0 || len(valid) > 24 {
		return ""
	}
	return "; there are " + strings.Join(valid, ", ")
}

// oneOf checks a word against the words it may be.
func oneOf(flag, word string, valid ...string) error {
	if slices.Contains(valid, word) {
		return nil
	}
	return usage("--%s: %s is not one of its values%s", flag, word, suggest(word, valid))
}

// oneFile is the argument of commands that take exactly one file.
func oneFile(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return usage("%s: a scenario file must be given", cmd.Name())
	}
	return usage("%s takes one file, not %d", cmd.Name(), len(args))
}

// flagError words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = "-" + short
		}
		return usage("%s: unknown flag %s%s", cmd.Name(), name, suggest(name, flagNames(cmd)))
	case errors.As(err, &bad):
		what := map[string]string{"bool": "true or false", "int": "a whole number", "uint64": "a whole number from 0"}[bad.GetFlag().Value.Type()]
		return usage("%s: --%s=%s is not %s", cmd.Name(), bad.GetFlag().Name, bad.GetValue(), what)
	case errors.As(err, &missing):
		return usage("%s: --%s needs a value", cmd.Name(), missing.GetFlag().Name)
	}
	return usage("%s: %v", cmd.Name(), err)
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// doubleDashes lets long flags be typed as go test takes them: -update.
func (a *app) doubleDashes(args []string) []string {
	long := map[string]bool{}
	a.root.InitDefaultVersionFlag()
	for _, c := range append(a.root.Commands(), a.root) {
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

// print writes text, coloured on a terminal.
func (a *app) print(text string) {
	if a.colour {
		text = render.Color(text)
	}
	io.WriteString(a.out, text)
}

func (a *app) printf(format string, args ...any) { a.print(fmt.Sprintf(format, args...)) }

// encode writes a value as JSON.
func (a *app) encode(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
