package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func exploreCommand(a *app) *cobra.Command {
	x := &exploring{checks: checks{annotate: a.annotate}}
	cmd := &cobra.Command{
		Use:   "explore [flags] FILE|DIR|NAME...",
		Short: "run a scenario file under many schedules",
		Long: `Runs a scenario file many times, each time in another schedule, and prints the result.
It runs the steps above the first explore or mutant of the file. User actions and
controllers run concurrently. If the last settle has a "!", a violation is expected, and
explore searches for it too.

A run ends at its first violation. explore minimizes the violation: "minimal" means that
no single object, user action, fault or choice can be removed. It prints the minimized
run, and writes it as a failure file for "threelaws replay". A fight is a state that
recurs with writes in between. If every run ended at another violation, explore searches
once more for fights only.

A timer may fire while another action is possible. Timers of milliseconds often do, and
timers of minutes rarely. The strategy exhaustive enumerates all schedules up to
equivalence, and reports whether it covered all. With this strategy, --early-timers
limits how many timers of a run fire early. After an interrupt, explore prints its
results so far.

NAME is a scenario in the program, or a family of them. With --json, explore prints one
document for each file.`,
		Example: `  threelaws explore -n 2000 FILE
  threelaws explore --era selector FILE
  threelaws explore --strategy exhaustive FILE
  threelaws explore --faults crash:1,relist:1 --strict FILE
  threelaws explore --shard 0/8 --results results -n 100000 FILE
  threelaws explore overlap/selector-era-fights`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.check(); err != nil {
				return err
			}
			if _, err := a.lawsNamed(x.Laws); err != nil {
				return err
			}
			files, err := a.find(args)
			if err != nil {
				return err
			}
			return exploreAll(cmd.Context(), a, files, x)
		},
	}
	x.register(a, cmd)
	return cmd
}

// exploreAll explores files one after the other. If a file is invalid, it continues with the next file.
func exploreAll(ctx context.Context, a *app, files []string, x *exploring) error {
	began := time.Now()
	var failed error
	for i, name := range files {
		if i > 0 && ctx.Err() != nil {
			a.code = worse(a.code, exitInterrupted)
			break
		}
		if len(files) > 1 && !a.json {
			a.printf("=== %s\n", titleOf(name))
		}
		start := time.Now()
		rep, err := exploreFile(ctx, a, name, x)
		one := a.caseExplored(titleOf(name), rep, err)
		one.Took = time.Since(start)
		if e := x.add(a, one); e != nil && failed == nil {
			failed = e
		}
		if err != nil && len(files) == 1 {
			failed = err
		} else if err != nil {
			a.complain(err)
		}
	}
	if err := x.write("threelaws explore"); failed == nil {
		failed = err
	}
	if failed == nil && len(files) > 1 && !a.json {
		a.printf("%s explored, %s\n", plural(len(files), "file"), round(time.Since(began)))
	}
	return failed
}

func exploreFile(ctx context.Context, a *app, name string, x *exploring) (*exploration, error) {
	x.Full = once(x.limit)
	f, err := a.load(name)
	if err != nil {
		return nil, err
	}
	if err := inEra(a.registry, f, x.era); err != nil {
		return nil, err
	}
	unexpectLast(f)
	x.World = strings.TrimSuffix(titleOf(name), extension)
	began := time.Now()
	found, err := search(ctx, a, f, x)
	if err != nil {
		return nil, explorationError(f, err)
	}
	rep := newExploration(x, f, found, ctx.Err() != nil)
	rep.elapsed = time.Since(began)
	rep.Seconds = rep.elapsed.Seconds()
	for _, failing := range found.Failures {
		path, err := writeFailure(x.out, f, failing)
		if err != nil { // even with an error, the results so far are printed
			a.complain(err)
			rep.Failures = append(rep.Failures, failureJSON{Counterexample: failing})
			continue
		}
		failing.Page.Replay = a.command("replay", path)
		failing.Page.Draw(a.command("show --as dot", path))
		a.leave(beside(path), failing.Page, failing.Found)
		rep.Failures = append(rep.Failures, failureJSON{failing, path})
	}
	a.code = worse(a.code, rep.ExitCode)
	if a.json {
		return rep, a.encode(rep)
	}
	a.print(rep.text(a.width))
	return rep, nil
}
