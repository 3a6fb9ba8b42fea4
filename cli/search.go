package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
)

// search explores a file. If it finds violations but no fight, it explores the file again, only for fights. With
// --laws, --shard or --results, it explores the file once.
func search(ctx context.Context, a *app, f *scenarios.File, x *exploring) (*scenarios.Exploration, error) {
	o := x.ExploreOptions
	line := a.progress()
	defer line.clear()
	follow(line, &o, time.Now())
	found, err := scenarios.Explore(ctx, f, -1, a.registry, o)
	if err != nil || len(o.Laws) > 0 || ctx.Err() != nil || o.Shard.N > 0 || o.Results != "" {
		return found, err
	}
	return found, findFight(ctx, a, f, o, found)
}

func follow(line *progressLine, o *scenarios.ExploreOptions, began time.Time) {
	if line.to == nil {
		return
	}
	o.Progress = func(e explore.Progress) {
		line.show("%d of %d schedules, %.0f/s, %d distinct, %s, %s left", e.Runs, e.Total, e.PerSecond, e.Distinct,
			plural(e.Failed, "violation"), round(e.Left))
	}
	var told time.Time
	o.Covered = func(c *explore.Coverage) {
		now := time.Now()
		if now.Sub(told) < 200*time.Millisecond {
			return
		}
		told = now
		seconds := now.Sub(began).Seconds()
		line.show("%d states, %d schedules, %.0f runs/s, %s, %s so far", c.States, c.Schedules, float64(c.Runs)/seconds,
			plural(len(c.Failures), "violation"), round(now.Sub(began)))
	}
}

const fightLaw = "NOFIGHT-1"

// findFight searches for a fight, unless found contains one. A run ends at its first violation, so a violation of
// another law may hide a fight. This happens mainly with controllers of an era before ControllerRef.
func findFight(
	ctx context.Context, a *app, f *scenarios.File, o scenarios.ExploreOptions, found *scenarios.Exploration,
) error {
	if len(found.Failures) == 0 || slices.ContainsFunc(found.Failures, fights) {
		return nil
	}
	o.Laws, o.First, o.Strategy, o.Schedules = []string{fightLaw}, true, "mix", min(o.Schedules, 100)
	o.Progress, o.Covered = nil, nil
	more, err := scenarios.Explore(ctx, f, -1, a.registry, o)
	if err != nil {
		return err
	}
	for _, failing := range more.Failures {
		if fights(failing) {
			found.Failures = append(found.Failures, failing)
		}
	}
	return nil
}

// explorationError explains why an exploration has no result: a mistake in the file, or two runs that differ.
func explorationError(f *scenarios.File, err error) error {
	var e *scenarios.Error
	if errors.As(err, &e) {
		return e
	}
	return &scenarios.Error{File: f.Name, Text: err.Error(), Code: scenarios.ExitNondetermine}
}
