package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/host"
)

// glimpse is what the first quiet run with a sample has shown.
type glimpse struct {
	made  int   // number of objects that the operator creates for the sample
	left  int   // number of those that exist when the world has settled
	fails bool  // the operator reports an error
	err   error // why the sample cannot be checked, or nil
	ends  bool  // the sample ends the operator
}

// glance runs the operator once with each of several samples, and sorts the samples: first those for which the operator
// creates objects, and last those that cannot be checked. These need no time later. If nothing is left of what it creates
// for a sample, or if it reports an error, glance tries further samples of the kind. glance uses about a third of --time.
// If the operator creates objects for samples of several kinds, the default of --time is longer.
func (c *checking) glance(ctx context.Context, op *operator, hosted func(host.Controller) host.Controller) {
	if len(op.Samples) == 0 || !c.timed() || c.replay != "" || len(op.Samples) == 1 && len(op.Next[op.Samples[0]]) == 0 {
		return
	}
	c.glimpses = map[*check.File]glimpse{}
	g := &glancing{c, ctx, op, hosted, c.progress()}
	defer g.line.clear()
	for i := 0; i < len(op.Samples) && g.hasTime(); i++ {
		sample := op.Samples[i]
		seen, over := g.look(sample, g.Time/3/time.Duration(len(op.Samples)))
		if over {
			continue
		}
		if next := c.next(op, sample, seen.err); next != nil {
			i--
			continue
		}
		c.glimpses[sample] = seen
	}
	for i := range op.Samples {
		g.better(i)
	}
	slices.SortStableFunc(op.Samples, func(a, b *check.File) int { return c.rank(a) - c.rank(b) })
	create := len(slices.DeleteFunc(slices.Clone(op.Samples), func(f *check.File) bool { return c.rank(f) > 0 }))
	if longer := min(create-1, mostLonger); c.flexible && longer > 0 {
		c.Time += time.Duration(longer) * time.Minute
		c.note(fmt.Sprintf("the operator creates objects for %d samples, which share %s: --time gives another limit", create, c.Time))
	}
}

// glancing contains what looks at samples need.
type glancing struct {
	*checking

	ctx    context.Context
	op     *operator
	hosted func(host.Controller) host.Controller
	line   *progressLine
}

func (g *glancing) hasTime() bool { return g.ctx.Err() == nil && time.Since(g.began) < g.Time/3 }

// look runs the operator once with a sample, for a limited time. over reports whether this time was too short.
func (g *glancing) look(sample *check.File, limit time.Duration) (seen glimpse, over bool) {
	g.line.show("watching the operator once with each sample: %s", sample.Name)
	ends := false
	within, stop := context.WithTimeout(g.ctx, max(limit, leastForGlance))
	defer stop()
	_, seen.err = g.prepare(g.op, sample, g.line, func() (*check.Plan, error) {
		given := g.operator(g.op, g.hosted, sample)
		given.Lacking = func(idle *check.Idle, created bool) bool {
			seen.made, seen.left, seen.fails = idle.Made, idle.Left, idle.Fails()
			ends = !g.op.lacks(idle, created, sample)
			return true
		}
		plan, err := check.Prepare(within, given)
		if ends {
			err = nil
		}
		return plan, err
	})
	if seen.ends = endsIt(seen.err); seen.ends {
		seen.err = nil
	}
	return seen, within.Err() != nil
}

// endsIt reports whether err says that the sample ends the operator, which survives without it.
func endsIt(err error) bool {
	idle := (*check.Idle)(nil)
	return errors.As(err, &idle) && idle.Ends
}

// mostSiblings is the number of further samples of a kind that glance tries.
const mostSiblings = 5

// better replaces a sample that does not show much by a sample of its kind for which the operator creates and keeps more
// objects, if there is one. If the operator keeps objects for the sample but reports an error, it must report no error
// for the other one: an error that it reports for each sample says nothing about the sample.
func (g *glancing) better(i int) {
	sample := g.op.Samples[i]
	seen, is := g.glimpses[sample]
	if !is || seen.ends || seen.err != nil && !isIdle(seen.err) || seen.left > 0 && !seen.fails {
		return
	}
	best, most := sample, seen
	for _, sibling := range g.op.Next[sample][:min(len(g.op.Next[sample]), mostSiblings)] {
		if !g.hasTime() {
			break
		}
		if seen, over := g.look(sibling, g.Time/9); !over && seen.err == nil && seen.left > most.left && (most.left == 0 || !seen.fails) {
			best, most = sibling, seen
		}
	}
	if best == sample {
		return
	}
	g.op.Samples[i], g.glimpses[best] = best, most
	g.op.Next[best] = append(slices.DeleteFunc(g.op.Next[sample], func(f *check.File) bool { return f == best }), sample)
	g.replaced[best.Name] = true
	g.line.clear()
	g.note(fmt.Sprintf("%s is tried instead of %s, of the same kind: %s of what the operator creates for it remain, instead of %d",
		best.Name, sample.Name, plural(most.left, "object"), seen.left))
}

// leastForGlance is the time after which a look at a sample may be ended. mostLonger is the number of minutes by which the
// default of --time may grow.
const (
	leastForGlance = 15 * time.Second
	mostLonger     = 3
)

// rank returns the place of a sample: 0 if the operator creates objects for it or ends with it, 1 if that is unknown,
// 2 if it creates nothing, and 3 if the sample cannot be checked.
func (c *checking) rank(sample *check.File) int {
	switch seen, is := c.glimpses[sample]; {
	case !is:
		return 1
	case seen.err != nil:
		return 3
	case seen.made > 0 || seen.ends:
		return 0
	}
	return 2
}

// waiting returns the number of equal parts of the remaining time, of which the first of these samples gets one, and the
// time to reserve for samples without dependents. Samples that cannot be checked get no time.
func (c *checking) waiting(samples []*check.File) (parts int, reserve time.Duration) {
	if c.rank(samples[0]) > 1 || c.glimpses == nil {
		fit := slices.DeleteFunc(slices.Clone(samples), func(f *check.File) bool { return c.glimpses[f].err != nil })
		return max(len(fit), 1), 0
	}
	for _, f := range samples {
		switch c.rank(f) {
		case 0, 1:
			parts++
		case 2:
			reserve = leastForSample
		}
	}
	return parts, reserve
}

// othersWait reports whether a later sample can be checked.
func (c *checking) othersWait(op *operator, sample *check.File) bool {
	return slices.ContainsFunc(op.Samples[slices.Index(op.Samples, sample)+1:], func(f *check.File) bool { return c.glimpses[f].err == nil })
}

// operator returns the part of a [check.Operator] that is equal in each use of a sample.
func (c *checking) operator(op *operator, hosted func(host.Controller) host.Controller, sample *check.File) check.Operator {
	return check.Operator{Controller: hosted(host.Controller{Name: op.Name}), CRDs: op.CRDs, Installed: op.Installed,
		Sample: sample, Skip: c.Skip, Edits: c.Edits, Strict: c.Strict, For: c.For, Schedules: c.Schedules,
		Server: &fakeapi.Options{WebhooksLater: true}, Relists: true}
}

// prepare calls once until the operator lacks nothing that can be added.
func (c *checking) prepare(op *operator, sample *check.File, line *progressLine, once func() (*check.Plan, error)) (
	*check.Plan, error) {
	note := func(notes []string) {
		for _, text := range notes {
			line.clear()
			c.note(text)
		}
	}
	if len(c.Samples) == 0 {
		note(op.define(sample))
	}
	plan, err := once()
	for notes := op.provide(err, sample); len(notes) > 0; notes = op.provide(err, sample) {
		note(notes)
		plan, err = once()
	}
	return plan, err
}

// referral is an object that a sample or an object beside it names.
type referral struct {
	*unstructured.Unstructured
	file string // the file of the object
	by   string // what names it: "the sample", or the object beside the sample
}

// referred returns an object of another kind that the spec of the sample, or of an object beside it, names; nil if no other
// sample is such an object.
func (op *operator) referred(sample *check.File) *referral {
	files := slices.Concat(op.Samples, op.Others)
	for _, s := range op.Samples {
		files = append(files, op.Next[s]...)
	}
	for i, of := range sample.Objects {
		for _, f := range files {
			o := f.Objects[0].DeepCopy()
			kind := o.GroupVersionKind().GroupKind()
			if f == sample || kind == sample.Objects[0].GroupVersionKind().GroupKind() || kind == of.GroupVersionKind().GroupKind() ||
				o.GetName() == "default" || !specNames(of, o.GetName(), anyPath) {
				continue
			}
			if o.GetNamespace() == "" && op.namespaced(o) {
				o.SetNamespace(op.home(sample))
			}
			if slices.ContainsFunc(op.refused, func(of *unstructured.Unstructured) bool { return same(of, o) }) {
				continue
			}
			by := "the sample"
			if i > 0 {
				by = strings.ToLower(of.GetKind()) + "/" + of.GetName()
			}
			if !has(sample, o) {
				return &referral{o, f.Name, by}
			}
		}
	}
	return nil
}

// next replaces a sample that the server refuses by the next sample of its kind, and returns that, or nil. If a webhook
// refuses two samples of a kind for the same reason, next returns nil.
func (c *checking) next(op *operator, sample *check.File, err error) *check.File {
	if err == nil || !check.Refused(err) || len(op.Next[sample]) == 0 {
		return nil
	}
	if check.RefusedByWebhook(err) {
		_, why, _ := strings.Cut(err.Error(), "denied the request: ")
		kind := sample.Objects[0].GroupVersionKind().GroupKind()
		if why != "" && c.denied[kind] == why {
			return nil
		}
		c.denied[kind] = why
	}
	next := op.Next[sample][0]
	op.Next[next] = op.Next[sample][1:]
	op.Samples[slices.Index(op.Samples, sample)] = next
	c.replaced[next.Name] = true
	c.note(err.Error() + "; the next sample of its kind is tried: " + next.Name)
	return next
}

// share divides the time until end into n equal parts, and returns the end of the first part.
func (c *checking) share(end time.Time, n int) time.Time {
	now := time.Now()
	return now.Add(end.Sub(now) / time.Duration(n))
}

// leastForSample is the time that a sample may use even if its equal share is shorter. It is enough for the quiet runs
// and a few cases of most operators. Samples for which no time remains are left out. The cases of a sample without
// dependents use no more than this, if other samples follow.
const leastForSample = 30 * time.Second

// shareOfSample is like share, but a sample gets leastForSample, or all the time until end if this is less.
func (c *checking) shareOfSample(end time.Time, n int) time.Time {
	equal, least := c.share(end, n), time.Now().Add(leastForSample)
	switch {
	case equal.After(least):
		return equal
	case end.Before(least):
		return end
	}
	return least
}

// timed reports whether --time limits the check. With --schedules, it does so only if it is given.
func (c *checking) timed() bool { return c.Schedules == 0 || !c.flexible }

func (c *checking) late() bool { return c.timed() && !time.Now().Before(c.left) }

func (c *checking) leaveOut(samples []*check.File) {
	for _, sample := range samples {
		text := fmt.Sprintf("%s: left out: --time %s is over", sample.Name, c.Time)
		c.line(checkLine{Note: text}) // the list of all samples at the end also contains it
		c.report.Samples = append(c.report.Samples, &sampleTried{Sample: sample.Name, Text: text, short: sample.Name + leftOut})
	}
	all := len(c.report.Samples)
	each := max(leastForSample, time.Since(c.began)/time.Duration(all-len(samples)))
	minutes := int((time.Duration(all)*each + time.Minute - 1) / time.Minute)
	text := fmt.Sprintf("%d of %s left out: name one with --sample FILE, or set --time %dm to check all of them",
		len(samples), plural(all, "sample"), minutes)
	c.note(text)
	c.report.Notes = append(c.report.Notes, text)
	c.code = worse(c.code, exitUncovered)
}
