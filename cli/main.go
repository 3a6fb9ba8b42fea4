// Package cli is the command line of threelaws, for controllers in any registry. A main function needs one statement:
//
//	func main() {
//		cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget.Controller()}})
//	}
//
// [Main] runs the command line of the process. With a [Command], the streams, the name and the scenarios can be
// changed; [Command.Run] returns the exit code. "threelaws help" describes each command, and docs/use/scenarios.md
// describes the scenario files.
//
// A world is a simulated cluster with its controllers. See packages sim/law, internal/clause and internal/fight for
// laws, clauses and fights.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Command is a command line with its controllers, scenarios and streams.
type Command struct {
	// Registry contains the controllers that files may use. Unless Bare is set, Run adds the controllers and aliases of
	// this module, and fills fields that are not set ([builtin.Complete]).
	Registry *scenarios.Registry
	Bare     bool

	// Library contains the program's scenarios: *.txtar files in a directory for each family. It may be nil. See
	// [scenarios.Library].
	Library fs.FS

	Name    string // the name in usage and help; "" means the last element of os.Args[0]
	Version string // printed by "version"; "" means the version in the build information

	In       io.Reader // the content of the file "-"; nil means an empty file in Run, and standard input in Main
	Out, Err io.Writer
	Colour   bool // use colours on Out
	Live     bool // show progress on Err by overwriting lines
	Width    int  // the width of a page in columns; 0 means 100

	operators func(ctx context.Context, s *settings) (*operator, error) // finds the operator; nil means findOperator

	// GitHub makes Run print annotations for GitHub Actions, with paths relative to Workspace.
	GitHub    bool
	Workspace string
}

// Main runs the command line of the process with a registry, and exits.
func Main(g *scenarios.Registry) {
	Command{Registry: g}.Main()
}

// Main runs the command line of the process, and exits. For a nil stream, it uses the stream of the process.
func (c Command) Main() {
	// A run allocates much memory, but keeps little of it.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM} // SIGTERM is sent by timeout(1) and by CI systems
	if !signal.Ignored(syscall.SIGHUP) {               // nohup(1) ignores it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	if c.In == nil {
		c.In = os.Stdin
	}
	if c.Out == nil {
		c.Out = os.Stdout
		c.Colour = isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		c.Width = columns(os.Stdout, os.Getenv("COLUMNS"))
	}
	if c.Err == nil {
		c.Err = os.Stderr
		c.Live = isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb"
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		c.GitHub, c.Workspace = true, os.Getenv("GITHUB_WORKSPACE")
	}
	os.Exit(c.Run(ctx, os.Args[1:]))
}

// Run runs a command line and returns its exit code.
func (c Command) Run(ctx context.Context, args []string) int {
	a := &app{
		console: console{out: c.Out, err: c.Err, colour: c.Colour, live: c.Live, width: c.Width},
		shelf:   shelf{embedded: c.Library, input: c.In, workspace: c.Workspace},
		name:    c.Name, version: c.Version, annotate: c.GitHub, registry: c.Registry,
		operators: c.operators,
	}
	if !c.Bare {
		a.registry = builtin.Complete(c.Registry)
	}
	if a.operators == nil {
		a.operators = findOperator
	}
	if a.input == nil {
		a.input = strings.NewReader("")
	}
	if a.width == 0 {
		a.width = render.Width
	}
	if a.name == "" {
		a.name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	if err := a.registry.Check(); err != nil {
		fmt.Fprintf(c.Err, "%s: %v\n", a.name, err)
		return scenarios.ExitUsage
	}
	return execute(ctx, a, args)
}

func execute(ctx context.Context, a *app, args []string) (code int) {
	defer func() {
		if e := recover(); e != nil {
			err := misuse(e)
			if err == nil {
				panic(e)
			}
			a.complain(usage("%v", err))
			code = scenarios.ExitUsage
		}
	}()
	var unknown error // set if help about an unknown command is requested
	root := rootCommand(a, &unknown)
	root.SetArgs(doubleDashes(root, args))
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = unknown
	}
	if err == nil && a.lost != nil {
		err = usage("cannot print everything: %v", a.lost)
	}
	switch {
	case err != nil && ctx.Err() != nil: // a build that was interrupted fails, for example
		fmt.Fprintf(a.err, "%s: interrupted\n", a.name)
		return exitInterrupted
	case err != nil:
		a.complain(err)
		return exitCode(err)
	}
	return a.code
}

// misuse returns e as an error if it reports a mistake in a registered controller or invariant, otherwise nil.
func misuse(e any) error {
	switch e := e.(type) {
	case law.Misuse:
		return e
	case host.Misuse:
		return e
	}
	return nil
}

// exitCode returns the exit code for an error: the code of the first [*scenarios.Error] in it, or [scenarios.ExitUsage]
// for any other error. For nil it returns [scenarios.ExitPass].
func exitCode(err error) int {
	if err == nil {
		return scenarios.ExitPass
	}
	var e *scenarios.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return scenarios.ExitUsage
}

// complain prints an error and sets the exit code. A [*scenarios.Error] without a file begins with the program's name.
func (a *app) complain(err error) {
	var e *scenarios.Error
	if errors.As(err, &e) && e.File == "" {
		e.File = a.name
	}
	fmt.Fprintln(a.err, a.elsewhere(err))
	a.code = worse(a.code, exitCode(err))
}

// rootCommand returns the tree of commands. For "help" with an unknown command, cobra prints help and returns no error.
// Then *unknown is set to the error.
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
		a.hostsMain(replayCommand(a)), a.hostsMain(showCommand(a)), lawsCommand(a),
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

// doubleDashes lets users write a long flag with one dash, such as -update, as for go test.
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
