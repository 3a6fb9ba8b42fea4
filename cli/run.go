package cli

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
)

type running struct {
	scenarios.Options
	checks

	verbose bool
	html    string // the directory for the pages of all runs; "" for none
	origin  string // "" if the user named files; otherwise "of ./scenarios" or "of this program"
}

func runCommand(a *app) *cobra.Command {
	r := &running{checks: checks{annotate: a.annotate}}
	cmd := &cobra.Command{
		Use:   "run [flags] [FILE|DIR|NAME|-]...",
		Short: "run scenario files and compare with their golden text",
		Long: `Runs every file, and every *.txtar file below a directory, in the default schedule. It
runs several files at a time. If all files pass, it prints one line. For a failure it
prints the place in the file. If a law is violated, it also prints the run.

NAME is a scenario in the program, or a family of them. Without arguments, run runs
./scenarios, or all scenarios in the program if there is no such directory. The file - is
standard input. Files and directories whose names begin with a dot are skipped. The
output of a settle without ---- below it is not compared. -v names these steps.

For each failure, run writes a page to .threelaws, with swimlanes and the state at each
step. --html writes a page for every file, and an index with the violated laws.

--update rewrites the golden text. It rewrites nothing if a law is violated, or in CI.`,
		Example: "  threelaws run\n  threelaws run ./scenarios\n  threelaws run --update scenarios/testdata/overlap",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Registry = a.registry // --main has added a controller
			files, err := r.files(a, args)
			if err != nil {
				return err
			}
			if err := r.updatable(a, files); err != nil {
				return err
			}
			return runFiles(cmd.Context(), a, files, r)
		},
	}
	cmd.Flags().BoolVar(&r.Update, "update", false, "rewrite the golden text")
	cmd.Flags().BoolVarP(&r.verbose, "verbose", "v", false, "print what every step printed")
	cmd.Flags().StringVar(&r.html, "html", "", "write a page of every run into this directory, and index.html")
	cmd.Flags().BoolVar(&r.Strict, "strict", false, "a lost race is a violation too")
	cmd.Flags().BoolVar(&r.Twice, "twice", false, "run every file twice and compare the hashes, not only one in 16")
	r.flags(cmd)
	complete(cmd, "html", completeDirs)
	cmd.ValidArgsFunction = completeFiles(&a.shelf, 0)
	return cmd
}

func (r *running) files(a *app, args []string) ([]string, error) {
	if len(args) > 0 {
		return a.find(args)
	}
	files, err := a.all(defaultDir)
	if err == nil && len(files) == 0 {
		err = usage("run: a scenario file or a directory must be given")
	}
	if r.origin = "of ./" + defaultDir; len(files) > 0 && a.own(files[0]) {
		r.origin = "of this program"
	}
	return files, err
}

func (r *running) updatable(a *app, files []string) error {
	if !r.Update {
		return nil
	}
	for _, name := range files {
		switch {
		case name == stdin:
			return usage("run: --update has no file to rewrite where %s is standard input", stdin)
		case a.own(name):
			return usage("run: --update has no file to rewrite: %s is part of this program", name)
		}
	}
	return nil
}

// runFiles runs files in parallel, and prints the results in the order of the files.
func runFiles(ctx context.Context, a *app, files []string, r *running) error {
	began := time.Now()
	rep := runReport{Files: []*scenarios.Result{}}
	line := a.progress()
	line.show("0 of %s", plural(len(files), "file"))
	var failed error
	shelf, err := newPages(r.html)
	if err != nil {
		return err
	}
	one := func(name string) timed {
		t := runFile(a, name, shelf.watching(a, name, r.Options))
		shelf.passed(name, t.ExitCode)
		return t
	}
	done := inOrder(ctx, files, one, func(t timed) {
		line.clear()
		rep.add(t.Result)
		point(a, t.Result)
		if !a.json {
			report(a, t.Result, r.verbose)
		}
		if err := r.add(a, a.caseOf(t)); failed == nil {
			failed = err
		}
		line.show("%d of %s, %d failed, %s", len(rep.Files), plural(len(files), "file"),
			len(rep.Files)-rep.Passed, round(time.Since(began)))
	})
	line.clear()
	if !done {
		rep.Interrupted = true
		rep.ExitCode = worse(rep.ExitCode, exitInterrupted)
	}
	elapsed := time.Since(began)
	rep.Seconds = elapsed.Seconds()
	a.code = rep.ExitCode
	if err := r.write("threelaws run"); failed == nil {
		failed = err
	}
	if err := shelf.index(files); failed == nil {
		failed = err
	}
	if failed != nil {
		return failed
	}
	if a.json {
		return a.encode(rep)
	}
	if len(files) > 1 || rep.ExitCode != scenarios.ExitUsage {
		a.print(rep.summary(r.origin, len(files), elapsed))
	}
	return nil
}

// One file in doubleShare files is always run twice. A hash of the file's name decides.
const doubleShare = 16

func doubled(path string) bool {
	sum := fnv.New32a()
	sum.Write([]byte(filepath.Base(path)))
	return sum.Sum32()%doubleShare == 0
}

// runFile runs a file. If it panics, the panic text contains the file's name.
func runFile(a *app, name string, o scenarios.Options) (t timed) {
	defer func() {
		if e := recover(); misuse(e) != nil {
			t = timed{Result: scenarios.Unread(titleOf(name), misuse(e))}
		} else if e != nil {
			panic(fmt.Sprintf("%s: %v\n%s", name, e, debug.Stack()))
		}
	}()
	o.Twice = o.Twice || doubled(name)
	began := time.Now()
	defer func() { t.took = time.Since(began) }()
	if name != stdin && !a.own(name) {
		return timed{Result: scenarios.RunFile(name, o)}
	}
	f, err := a.read(name)
	if err != nil {
		return timed{Result: scenarios.Unread(titleOf(name), err)}
	}
	return timed{Result: scenarios.Interpret(f, o)}
}
