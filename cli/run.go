package cli

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
)

// runReport is what run prints with --json.
type runReport struct {
	Files       []*scenarios.Result `json:"files"`
	Passed      int                 `json:"passed"`
	Updated     int                 `json:"updated"`
	Loose       int                 `json:"loose"` // settles whose output is held against nothing
	Interrupted bool                `json:"interrupted,omitempty"`
	Seconds     float64             `json:"seconds"`
	ExitCode    int                 `json:"exitCode"`
}

func (a *app) runCommand() *cobra.Command {
	o, verbose := scenarios.Options{Registry: a.registry}, false
	cmd := &cobra.Command{
		Use:   "run [flags] FILE|DIR|-...",
		Short: "run scenario files and compare with their golden text",
		Long: `Runs every file, and every *.txtar file below a directory, in the default
schedule, several at a time. When all pass, one line is printed; what fails is
shown with its place and, where a law is broken, with the run that broke it.

The file - is standard input. What explore has written to its own directory is
left out, as all files and directories are whose names begin with a dot. The
output of a settle without ---- beneath it is held against nothing; -v names them.

--update rewrites the golden text. It never does so where a law is broken, and
not under CI.`,
		Example: "  threelaws run ./scenarios\n  threelaws run --update scenarios/testdata/overlap",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("run: a scenario file or a directory must be given")
			}
			if o.Update && slices.Contains(args, stdin) {
				return usage("run: --update has no file to rewrite where %s is standard input", stdin)
			}
			files, err := find(args)
			if err != nil {
				return err
			}
			return a.runFiles(cmd.Context(), files, o, verbose)
		},
	}
	cmd.Flags().BoolVar(&o.Update, "update", false, "rewrite the golden text")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print what every step printed")
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "races that were lost are broken laws")
	cmd.Flags().BoolVar(&o.Twice, "twice", false, "run every file twice and compare the hashes, not only one in 16")
	return cmd
}

// runFiles runs the files in parallel and reports on them in their order.
func (a *app) runFiles(ctx context.Context, files []string, o scenarios.Options, verbose bool) error {
	began := time.Now()
	rep := runReport{Files: []*scenarios.Result{}}
	run := func(path string) *scenarios.Result {
		o := o
		o.Twice = o.Twice || doubled(path)
		return a.runFile(path, o)
	}
	done := inOrder(ctx, files, run, func(res *scenarios.Result) {
		rep.Files = append(rep.Files, res)
		rep.ExitCode = worse(rep.ExitCode, res.ExitCode)
		if res.ExitCode == scenarios.ExitPass {
			rep.Passed++
		}
		for _, s := range res.Steps {
			if s.Loose {
				rep.Loose++
			}
		}
		if res.Updated {
			rep.Updated++
		}
		if !a.json {
			a.report(res, verbose)
		}
	})
	if !done {
		rep.Interrupted = true
		rep.ExitCode = worse(rep.ExitCode, exitInterrupted)
	}
	elapsed := time.Since(began)
	rep.Seconds = elapsed.Seconds()
	a.code = rep.ExitCode
	if a.json {
		return a.encode(rep)
	}
	if len(files) > 1 || rep.ExitCode != scenarios.ExitUsage {
		a.print(rep.summary(len(files), elapsed))
	}
	return nil
}

// doubleShare is the share of files whose default run is done twice: one in so
// many, the same ones each time.
const doubleShare = 16

func doubled(path string) bool {
	sum := fnv.New32a()
	sum.Write([]byte(filepath.Base(path)))
	return sum.Sum32()%doubleShare == 0
}

// runFile runs one file. Should we have made a mistake, it is one in this file.
func (a *app) runFile(path string, o scenarios.Options) *scenarios.Result {
	defer func() {
		if e := recover(); e != nil {
			panic(fmt.Sprintf("%s: %v\n%s", path, e, debug.Stack()))
		}
	}()
	if path != stdin {
		return scenarios.RunFile(path, o)
	}
	f, err := a.read(path)
	if err != nil {
		return scenarios.Unread("stdin", err)
	}
	return scenarios.Interpret(f, o)
}

// summary is the last line.
func (r *runReport) summary(files int, elapsed time.Duration) string {
	parts := []string{plural(files, "file"), fmt.Sprintf("%d passed", r.Passed)}
	if n := len(r.Files) - r.Passed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if r.Loose > 0 {
		parts = append(parts, plural(r.Loose, "settle")+" without ----")
	}
	if r.Updated > 0 {
		parts = append(parts, fmt.Sprintf("%d updated", r.Updated))
	}
	if r.Interrupted {
		parts = append(parts, fmt.Sprintf("%d not run: interrupted", files-len(r.Files)))
	}
	return strings.Join(append(parts, round(elapsed)), ", ") + "\n"
}

// round words a duration for people.
func round(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// report prints what went wrong in a file, and with verbose all its steps.
func (a *app) report(res *scenarios.Result, verbose bool) {
	if verbose {
		a.printf("=== %s\n", res.File)
		for _, s := range res.Steps {
			loose := ""
			if s.Loose {
				loose = "   (no ---- beneath it: its output is held against nothing)"
			}
			a.printf("%s%s\n%s", s.Step, loose, indent(s.Output))
		}
	}
	phase := ""
	for _, e := range res.Errors {
		if e.Code == scenarios.ExitUsage {
			fmt.Fprintln(a.err, e)
			continue
		}
		if p := phaseAt(res, e.Line); p != "" && p != phase {
			phase = p
			a.printf("# %s\n", p)
		}
		a.printf("%s\n", e)
	}
	if p := res.Page; p != nil {
		p.Replay = a.name + " replay " + res.File
		p.Draw(a.name + " show --as dot " + res.File)
		a.print(p.Wide(a.width()))
	}
}

// phaseAt is the phase that the step on a line belongs to.
func phaseAt(res *scenarios.Result, line int) string {
	for _, s := range res.Steps {
		if s.Line == line {
			return s.Phase
		}
	}
	return ""
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}
