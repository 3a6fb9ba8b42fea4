package scenarios

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

// A campaign minimizes the first failure of each law in each block of schedules. There is a block for each 10,000
// schedules, but at most 64 blocks. Blocks do not depend on shards, so one run finds the same failures as many shards.
const (
	blockOfRuns = 10_000
	mostBlocks  = 64
)

// results writes the result file of an exploration.
type results struct {
	*campaign.Log
	program *Script
	mark    *explore.Mark    // the position at which an exhaustive search continues; nil for the start
	saved   explore.Coverage // the coverage of an exhaustive search at the last write
	told    time.Time        // the time of the last write
	every   time.Duration    // the time between two writes
}

// results opens the result file. It returns nil if the options require none.
func (p *Script) results(o ExploreOptions) (*results, error) {
	if o.Results == "" {
		return nil, nil
	}
	h := campaign.Head{World: cmp.Or(o.World, p.File.Name), Total: o.Schedules,
		Hash: fmt.Sprintf("%x", sha256.Sum256([]byte(p.File.src)))}
	if o.Strategy == "exhaustive" {
		h.Shards, h.Total = o.Shard.Of(), o.Shard.Of()
	} else {
		h.Block = max(blockOfRuns, (o.Schedules+mostBlocks-1)/mostBlocks)
	}
	var steps strings.Builder
	for _, s := range p.program() {
		fmt.Fprintln(&steps, s.Expect, s) // one file may have different steps, for example with another era
	}
	h.Settings = strings.TrimSpace(fmt.Sprintf("strategy=%s seed=%d steps=%.4x budget=%d early=%d%s", cmp.Or(o.Strategy, "mix"),
		o.Seed, sha256.Sum256([]byte(steps.String())), cmp.Or(o.Budget, shrinkBudget), o.Early, faultsArg(p.Faults)))
	for _, s := range []struct {
		set  bool
		text string
	}{
		{p.Strict, "strict"}, {p.lawsOnly, "laws-only"}, {p.whole, "whole"}, {o.First, "first"},
		{p.mutant != "", "mutant=" + p.mutant}, {len(p.laws) > 0, "laws=" + strings.Join(p.laws, ",")},
	} {
		if s.set {
			h.Settings += " " + s.text
		}
	}
	r := &results{program: p, told: time.Now(), every: cmp.Or(o.SaveEvery, 15*time.Second)}
	var err error
	r.Log, err = campaign.Open(o.Results, h, o.Shard, func(rec *campaign.Record) error {
		if rec.Resume == nil {
			return nil
		}
		next := struct {
			explore.Mark
			Table, Finals campaign.Words
		}{}
		if err := json.Unmarshal(rec.Resume, &next); err != nil {
			return err
		}
		next.Mark.Table, next.Mark.Finals = next.Table, next.Finals
		if r.mark == nil {
			r.mark = &explore.Mark{}
		}
		r.mark.Add(&next.Mark)
		_, err := r.mark.States() // checks that the table of states is complete
		return err
	})
	if err != nil {
		return nil, r.wrong(err)
	}
	return r, nil
}

func (r *results) wrong(err error) error {
	return &Error{Text: "results: " + err.Error(), Code: ExitUsage}
}

// draws writes the results of random schedules.
func (r *results) draws(rep *explore.Drawn, hashes []uint64) error {
	rec := &campaign.Record{Ranges: [][2]int{{rep.From, rep.From + rep.Runs}}, Steps: 0, Laws: r.laws(rep.Laws.Rows()),
		Counts: map[string]int{"schedules": rep.Runs, "failed": rep.Failed, "unsettled": rep.Unsettled, "fights": rep.Fights,
			"steps": int(rep.Steps)}, Outcomes: rows(rep.Outcomes.Rows())}
	rec.Seen.Add(hashes)
	for i := range rep.Failures {
		f := &rep.Failures[i]
		rec.Failures = append(rec.Failures, r.failure(f, f.Index/r.Block))
	}
	return r.append(rec)
}

func (r *results) append(rec *campaign.Record) error {
	if err := r.Append(rec); err != nil {
		return r.wrong(err)
	}
	return nil
}

func (r *results) failure(f *explore.Failing, block int) campaign.Failure {
	return campaign.Failure{Law: r.name(f.Violation.Law), ID: f.Violation.Law, Informed: f.Violation.Informed, Text: f.Violation.Text,
		Step: f.Violation.Step, Length: f.Outcome.Steps, Block: block, Index: f.Index, Strategy: f.Strategy}
}

// searches writes what an exhaustive search has found since the last write.
func (r *results) searches(m *explore.Mark, c *explore.Coverage, shard int) error {
	states, err := m.States()
	if err != nil {
		return err
	}
	last := &r.saved
	rec := &campaign.Record{Steps: c.MaxSteps, Livelock: c.Livelock, Fixed: c.Fixed, Outcomes: rows(c.Outcomes.Rows()),
		Counts: map[string]int{"schedules": c.Schedules - last.Schedules, "runs": c.Runs - last.Runs,
			"transitions": c.Transitions - last.Transitions, "pruned": c.Pruned + c.Asleep - last.Pruned - last.Asleep,
			"livelocks": c.Livelocks - last.Livelocks, "fights": c.Fights - last.Fights}}
	rec.Seen.Add(states)
	for label, n := range rows(last.Outcomes.Rows()) {
		if rec.Outcomes[label] -= n; rec.Outcomes[label] == 0 {
			delete(rec.Outcomes, label)
		}
	}
	for i := len(last.Failures); i < len(c.Failures); i++ {
		f := r.failure(&c.Failures[i], shard)
		f.Keys = c.Failures[i].Schedule.Keys()
		rec.Failures = append(rec.Failures, f)
	}
	if len(r.Ranges) == 0 {
		rec.Ranges = [][2]int{{shard, shard + 1}}
	}
	if m.Ended {
		rec.Ended, rec.Stopped = []int{shard}, c.Stopped
	}
	rec.Resume, err = json.Marshal(struct {
		*explore.Mark
		Table, Finals campaign.Words
	}{m, m.Table, m.Finals})
	if err != nil {
		return err
	}
	r.saved, r.told = *c, time.Now()
	r.saved.Failures, r.saved.Outcomes = slices.Clone(c.Failures), c.Outcomes.Clone()
	return r.append(rec)
}

func (r *results) due() bool { return time.Since(r.told) >= r.every }

func rows(list []explore.Row) map[string]int {
	all := map[string]int{}
	for _, row := range list {
		all[row.Label] = row.Count
	}
	return all
}

func (r *results) laws(list []explore.Row) map[string]int {
	all := map[string]int{}
	for _, row := range list {
		all[r.name(row.Label)] = row.Count
	}
	return all
}

func (r *results) name(id string) string {
	if l, _ := r.program.Registry.law(id); l != nil {
		return l.Name
	}
	return id
}

// exploration returns what the shard has found, including results before restarts.
func (r *results) exploration(interrupted bool) *Exploration {
	x := &Exploration{Schedules: r.Counts["schedules"], Failed: r.Counts["failed"], Unsettled: r.Counts["unsettled"],
		Outcomes: explore.TableOf(r.Outcomes).Rows(), Results: r.Path, Complete: !interrupted}
	x.Distinct, _ = r.Seen.Len()
	x.Fights, x.Interrupted = r.Counts["fights"], interrupted
	for name, n := range r.Laws {
		x.count(name, n)
	}
	return x
}

// minimize minimizes the failures that have not been minimized, adds all failures to x, and writes the results. again
// repeats the run of a failure.
func (r *results) minimize(ctx context.Context, o ExploreOptions, x *Exploration,
	again func(f *campaign.Failure) (*explore.Failing, error)) error {
	for _, f := range slices.Clone(r.Failures) {
		told := func(g *Counterexample) bool { return g.Law == f.Law && g.Accepted == f.Accepted }
		if f.Story != nil && o.Accept == nil && slices.ContainsFunc(x.Failures, told) {
			continue
		}
		c, err := r.minimized(ctx, o, &f, again)
		if err != nil {
			return err
		}
		before := f.Accepted
		if f.Accepted = c.Accepted; !slices.ContainsFunc(x.Failures, told) {
			x.Failures = append(x.Failures, c)
		}
		switch {
		case c.Accepted != "" && c.Accepted != before:
			f.Story = nil
		case c.Accepted == "" && f.Story == nil && ctx.Err() == nil:
			f.Story = storyOf(c, o.Again)
		default:
			continue
		}
		if err := r.append(&campaign.Record{Failures: []campaign.Failure{f}}); err != nil {
			return err
		}
	}
	return nil
}

// minimized returns a minimized failure. It does not minimize a failure that is accepted. If the shard is interrupted,
// the failure is minimized after the restart.
func (r *results) minimized(ctx context.Context, o ExploreOptions, f *campaign.Failure,
	again func(f *campaign.Failure) (*explore.Failing, error)) (*Counterexample, error) {
	if f.Story != nil {
		c, err := r.program.retell(f)
		if err == nil {
			o.accepts(c)
		}
		return c, err
	}
	failing, err := again(f)
	if err != nil || failing == nil {
		return nil, cmp.Or(err, fmt.Errorf("schedule %d does not violate %s again", f.Index, f.Law))
	}
	if o.Accept != nil || ctx.Err() != nil {
		raw, err := r.program.shrink(failing, 1, nil)
		if err != nil || o.accepts(raw) || ctx.Err() != nil {
			return raw, err
		}
	}
	c, err := r.program.shrink(failing, cmp.Or(o.Budget, shrinkBudget), func() bool { return ctx.Err() != nil })
	if err == nil {
		o.accepts(c)
	}
	return c, err
}

func storyOf(c *Counterexample, again string) *campaign.Story {
	return &campaign.Story{Again: again, ID: fmt.Sprintf("%.6x", sha256.Sum256([]byte(c.Law+"\n"+render.Text(c.Page.Lines)))), Text: c.Text,
		Small: c.Small, Page: c.Page.Text(), File: string(c.File)}
}

// retell returns the counterexample of a failure that was minimized before a restart. It replays the failure's file.
func (p *Script) retell(f *campaign.Failure) (*Counterexample, error) {
	c := &Counterexample{Law: f.Law, Text: f.Story.Text, Index: f.Index, Strategy: f.Strategy, Small: f.Story.Small,
		File: []byte(f.Story.File)}
	file, err := parse(p.home(), c.File, p.File.verbs)
	if err != nil {
		return nil, err
	}
	Interpret(file, Options{Registry: p.Registry, Inspect: func(r *Run) {
		for _, failed := range r.Failures() {
			if c.Page == nil {
				c.Page = r.Page(&failed)
				c.Page.Small = c.Small
			}
		}
	}})
	if c.Page == nil {
		return nil, fmt.Errorf("the failure of schedule %d does not happen again: remove the result file", f.Index)
	}
	return c, nil
}

func (p *Script) drawShard(ctx context.Context, c explore.Config, o ExploreOptions) (*Exploration, error) {
	r, err := p.results(o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c.Block, c.SaveEvery, c.Save = r.Block, r.every, r.draws
	c.From += r.Done()
	rep, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	x := r.exploration(rep.Interrupted)
	if rep.Interrupted {
		x.stop("interrupted")
	}
	x.finish(p)
	return x, r.minimize(ctx, o, x, func(f *campaign.Failure) (*explore.Failing, error) {
		for i := range rep.Failures {
			if rep.Failures[i].Index == f.Index {
				return &rep.Failures[i], nil
			}
		}
		return c.Again(f.Index), nil
	})
}

func (p *Script) exhaustShard(ctx context.Context, e explore.Exhaust, o ExploreOptions) (*Exploration, error) {
	r, err := p.results(o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	e.Resume, e.Due = r.mark, r.due
	e.Save = func(m *explore.Mark, c *explore.Coverage) error { return r.searches(m, c, o.Shard.I) }
	c := &explore.Coverage{Fixed: r.Fixed}
	if len(r.Ended) == 0 {
		if c, err = e.Run(); err != nil {
			return nil, err
		}
	}
	x := r.exploration(false)
	states, _ := r.Seen.Len()
	x.Coverage = &explore.Coverage{Complete: len(r.Ended) > 0 && r.Stopped == "", Stopped: cmp.Or(r.Stopped, c.Stopped),
		States: states, Schedules: x.Schedules, Runs: r.Counts["runs"], Transitions: r.Counts["transitions"],
		Pruned: r.Counts["pruned"], MaxSteps: r.Steps, Fights: r.Counts["fights"], Livelocks: r.Counts["livelocks"],
		Livelock: r.Livelock, Fixed: c.Fixed, EarlyTimers: e.Early, Outcomes: explore.TableOf(r.Outcomes)}
	x.Distinct, x.Complete, x.Stopped, x.Failed = x.Schedules, x.Coverage.Complete, x.Coverage.Stopped, len(r.Failures)
	complete, stopped := x.Complete, x.Stopped
	if x.finish(p); o.Shard.Of() > 1 { // another shard may have found or exercised what this shard has not
		x.Complete, x.Stopped = complete, stopped
	}
	for _, f := range r.Failures {
		if f.ID == law.AlwaysSettles {
			x.Failed--
		}
	}
	return x, r.minimize(ctx, o, x, func(f *campaign.Failure) (*explore.Failing, error) {
		failing := &explore.Failing{Index: f.Index, Strategy: f.Strategy, Outcome: &explore.Outcome{Steps: f.Length},
			Violation: explore.Violation{Law: f.ID, Text: f.Text, Informed: f.Informed, Step: f.Step}}
		for _, key := range f.Keys {
			entry, err := explore.ParseEntry(key)
			if err != nil {
				return nil, err
			}
			failing.Schedule = append(failing.Schedule, entry)
		}
		return failing, nil
	})
}
