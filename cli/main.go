// Package cli is the command line: run, explore, replay, show, laws and
// serve, with help, version and shell completion, for whatever controllers
// it is given. A main of one statement has it with its own:
//
//	func main() {
//		cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget.Controller()}})
//	}
//
// Each command has a file that makes it, and stands on the files beneath: the
// console it prints to, the shelf it takes scenario files from, the words for
// what is wrong. The file root.go names them all.
//
// # Names to know
//
//   - [Main] runs the command line of the process with a registry, and exits.
//   - [Command] is the same with streams, a name and a library of scenarios of one's
//     own; [Command.Run] returns the exit code instead. Its example is one that runs.
//
// # Where to go next
//
// Package scenarios is what the commands do, for programs; "threelaws help" explains
// each, and docs/use/scenarios.md the files.
package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// Command is a command line and what it works with.
type Command struct {
	// Registry is what files may name. What every world needs is added to it,
	// see [builtin.Complete], unless Bare is set.
	Registry *scenarios.Registry
	Bare     bool

	// Library is the scenarios in the program, *.txtar files that are found by
	// family, the directory they are in, and by name; nil for none. Those of
	// this module are [scenarios.Library].
	Library fs.FS

	Name    string // in usage and help; "" for the last element of os.Args[0]
	Version string // what "version" prints; "" for what the program was built from

	In       io.Reader // what the file "-" is; nil for nothing
	Out, Err io.Writer
	Colour   bool // Out may be coloured
	Live     bool // Err may be written over, for progress
	Width    int  // columns of a page; 0 for 100

	operators func(ctx context.Context, s *settings) (*operator, error) // see app

	// GitHub says that GitHub Actions reads what is printed: annotations are added,
	// and name files as they are in the Workspace, where the repository is.
	GitHub    bool
	Workspace string
}

// Main runs the command line of the process with a registry and exits.
func Main(g *scenarios.Registry) {
	Command{Registry: g}.Main()
}

// Main runs the command line of the process and exits. Streams that are nil are
// those of the process.
func (c Command) Main() {
	// Runs make much garbage and keep little. GOGC and GOMEMLIMIT still hold.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// timeout(1) and CI systems send SIGTERM.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
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

// Run executes one command line and returns its exit code.
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
