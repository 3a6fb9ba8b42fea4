// Package cli is the command line: run, explore, replay, show, laws, mutants
// and serve, with whatever controllers it is given. A program of three lines
// has it with its own:
//
//	func main() {
//		cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget.Controller()}})
//	}
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/term"

	"github.com/threelaws/threelaws/scenarios"
)

// Command is a command line and what it works with.
type Command struct {
	// Registry is what files may name. What every world needs is added to it,
	// see [Complete], unless Bare is set.
	Registry *scenarios.Registry
	Bare     bool

	Name    string // in usage and help; "" for the last element of os.Args[0]
	Version string // that --version prints; "" for what the program was built from

	In       io.Reader // what the file "-" is; nil for nothing
	Out, Err io.Writer
	Colour   bool // Out may be coloured
	Live     bool // Err may be written over, for progress
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	if c.In == nil {
		c.In = os.Stdin
	}
	if c.Out == nil {
		c.Out = os.Stdout
		c.Colour = isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	if c.Err == nil {
		c.Err = os.Stderr
		c.Live = isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb"
	}
	os.Exit(c.Run(ctx, os.Args[1:]))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Run executes one command line and returns its exit code.
func (c Command) Run(ctx context.Context, args []string) int {
	a := &app{in: c.In, out: c.Out, err: c.Err, registry: c.Registry, colour: c.Colour, live: c.Live, name: c.Name, version: c.Version}
	if !c.Bare {
		a.registry = Complete(c.Registry)
	}
	if a.in == nil {
		a.in = strings.NewReader("")
	}
	if a.name == "" {
		a.name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	if a.version == "" {
		a.version = built()
	}
	if err := a.registry.Check(); err != nil {
		fmt.Fprintf(c.Err, "%s: %v\n", a.name, err)
		return scenarios.ExitUsage
	}
	return a.run(ctx, args)
}

// built is the version of the program's main module, as Go recorded it.
func built() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
