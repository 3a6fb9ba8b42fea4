// The command threelaws runs, explores, replays and shows scenario files. See
// "threelaws help".
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"golang.org/x/term"
)

func main() {
	// Runs make much garbage and keep little. GOGC and GOMEMLIMIT still hold.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	a := &app{out: os.Stdout, err: os.Stderr, registry: builtin()}
	a.colour = isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	a.live = isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb"
	os.Exit(a.run(ctx, os.Args[1:]))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
