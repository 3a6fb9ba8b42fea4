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
		Short: "run a file's world under other schedules",
		Long: `Runs the steps of the file above its first explore or mutant again and again,
each time in another schedule, and prints the result. The user's actions race with
the controllers. If the last settle has a "!", the expected violation is searched for
as well.

A violation is minimized: "minimal" means that no single object, user action, fault
or choice can be left out. The minimized run is shown, and written as a scenario file
that "threelaws replay" runs exactly. A fight is a state that recurs with writes in
between, and is shown as its cycle. A run ends at its first violation. If all runs did,
the world is explored once more for fights alone.

Time may pass while something else could happen. A retry after milliseconds often
comes before an event under way, an expiry after minutes rarely does. exhaustive
enumerates every schedule up to equivalence, and says whether it covered everything.
There --early-timers limits the early timers of a run. An interrupt ends the
exploration with what it has found.

A name that is no file means a scenario in the program, or a family of them. With
--json, each of several files has a document of its own.`,
		Example: `  threelaws explore -n 2000 FILE
  threelaws explore --generation selector FILE
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

// exploreAll explores files one after the other. It continues after a wrong file.
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
	if err := regenerate(a.registry, f, x.era); err != nil {
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
		if err != nil { // the results so far are printed in any case
			a.complain(err)
			rep.Failures = append(rep.Failures, failureJSON{Counterexample: failing})
			continue
		}
		failing.Page.Replay = a.name + " replay " + argument(path)
		failing.Page.Draw(a.name + " show --as dot " + argument(path))
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
