// Package check tests any controller against the laws of ownership, given a sample of the kind that it reconciles.
// [Prepare] first runs the controller in quiet worlds: the default schedule, without faults. These runs show what the
// controller creates, owns, adopts and releases, and to which edits it reacts. Prepare returns a [Plan] with cases,
// which test the controller in other schedules. [Plan.Verdicts] sums up their results.
//
// Package scenarios/conformance uses this package in Go tests, and package cli in the command check.
package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// Plan contains the cases for a controller.
type Plan struct {
	Controller host.Controller // the given controller; quiet runs have completed its Owns and Contract
	Profile    law.Profile     // the profile of laws that apply
	Cases      []DerivedCase
	Unsettled  string   // why most cases would show nothing: "it does not settle with its sample alone"; usually ""
	Notes      []string // parts of the given Operator that were ignored, and why

	subject *operator
	found   *found
}

// DerivedCase is a case: a world in which the controller is tested.
type DerivedCase struct {
	Name string // "recreated/orphan"
	Skip string // the reason why the case is not run, or ""
	Late bool   // the reason is that there was no time to find out a fact: see Operator.Hurry

	place *place
	plan  *Plan
}

// Tried is the result of a case.
type Tried struct {
	Name string
	X    *scenarios.Exploration // nil if the case was not run

	Known []Known // accepted violations, which were removed from X.Failures
}

// Known is an accepted violation, with the reason.
type Known struct{ Law, Reason string }

// Prepare checks the given Operator, runs the controller in quiet worlds, and derives the cases. It returns an error of
// one line if the Operator has a mistake, or if the controller does nothing for the sample. If ctx is done, Prepare
// returns the error of ctx before the next quiet world.
func Prepare(ctx context.Context, given Operator) (*Plan, error) {
	s, err := load(ctx, given)
	if err != nil {
		return nil, err
	}
	f, err := s.find()
	if err != nil {
		return nil, err
	}
	p := &Plan{Controller: f.declared(s), Profile: law.Profile(s.Profile), Unsettled: f.unsettled, Notes: s.notes,
		subject: s, found: f}
	places := f.worlds(s)
	for i := range places {
		c := DerivedCase{places[i].name, places[i].why, places[i].late, &places[i], p}
		if reason := s.Skip[c.Name]; reason != "" {
			c.Skip, c.Late = reason, false
		}
		p.Cases = append(p.Cases, c)
	}
	return p, nil
}

// find calls look, again after each errMore, and turns a panic about misuse of the host or the laws into an error.
func (s *operator) find() (f *found, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case host.Misuse:
			err = r
		case law.Misuse:
			err = r
		default:
			panic(r)
		}
	}()
	was := *s
	for f, err = s.look(); err == errMore; f, err = s.look() {
		with, beside := s.With, s.beside
		*s = was
		s.With, s.beside = with, beside
	}
	return f, err
}

// Rehearse returns a function that runs a world with only the sample. Its argument hosting makes the controller to run.
// Seed 0 is the default schedule; other seeds give schedules with faults. The results are the program's writes and the
// hash of the run. Only one goroutine at a time may call the function.
func (p *Plan) Rehearse() func(hosting func(host.Controller) host.Controller, seed uint64) (wrote string, hash uint64) {
	s := *p.subject
	s.server = s.server.Fork()
	return func(hosting func(host.Controller) host.Controller, seed uint64) (wrote string, hash uint64) {
		of := s
		c := hosting(p.Controller)
		of.start = func(t *trial.Trial, name string) *host.Process { return t.Start(name, c) }
		var choices sim.Choices
		var faults map[string]int
		if seed != 0 {
			choices, faults = sim.NewSeed(seed), map[string]int{"crash": 1, "conflict": 1, "lost": 1, "stale": 1, "relist": 1}
		}
		r, err := of.drawn(append(slices.Clone(of.around), of.owner), choices, faults)
		if err != nil { // the context is done
			return "", 0
		}
		defer r.Stop()
		for _, rec := range r.writes() {
			wrote += rec.Verb + " " + rec.Object.String() + "\n"
		}
		return wrote, r.World.Hash()
	}
}

// HasDependents reports whether the sample got dependents in the quiet runs.
func (p *Plan) HasDependents() bool { return len(p.found.dependents) > 0 }

// String formats the results of quiet runs.
func (p *Plan) String() string { return p.found.text(p.subject) }

// World returns the world of a case, without laws that are skipped or that earlier cases violated (see asks).
func (c *DerivedCase) World(before []Tried) *casefile.Case {
	w := c.place.whole(c.plan.subject, c.plan.Controller)
	s := c.plan.subject
	w.Laws = s.asks(slices.DeleteFunc(slices.Clone(before), func(t Tried) bool { return t.Name == c.place.graverThan }),
		&w.Controllers[0].Contract)
	told := s.told(before)
	w.Invariants = slices.DeleteFunc(slices.Clone(w.Invariants), func(v *law.Invariant) bool {
		return slices.Contains(told, v.ID)
	})
	// After a known violation, worlds may settle in different states.
	w.SameEnd = w.SameEnd && c.plan.subject.lasts == 0 && !slices.ContainsFunc(before, func(t Tried) bool {
		return len(t.Known) > 0 || t.X != nil && len(t.X.Failures) > 0
	})
	return &w
}

// text formats the results of quiet runs. docs/use/check.md explains each line.
func (f *found) text(s *operator) string {
	var b strings.Builder
	line := func(what string, list ...string) {
		if text := strings.Join(list, ", "); text != "" {
			fmt.Fprintf(&b, "  %-11s %s\n", what, text)
		}
	}
	fmt.Fprintf(&b, "%s, as quiet runs show it:\n", s.Controller.Name)
	line("works on", worded(s.Controller.For))
	if f.raised != nil {
		line("sample", fmt.Sprintf("with %s: %v in place of %v, to have more than one dependent", f.raised.name, f.raised.is, f.raised.was))
	}
	for _, gvk := range f.also {
		line("also", "works on "+worded(gvk)+", with any owner")
	}
	line("watches", f.watches...)
	for _, c := range f.creates {
		line("creates", c.kind.Kind+" "+c.how)
	}
	line("writes", f.writes...)
	line("finalizers", f.finalizers...)
	switch {
	case f.selector != nil:
		line("adopts", f.selector.String())
	case f.adopts:
		line("adopts", "yes, but its selector is not known")
	case f.byName:
		line("adopts", "objects with the name of a dependent")
	case len(f.dependents) > 0 && f.known("", adopting) == "":
		line("adopts", "nothing")
	}
	if f.releases {
		line("releases", "objects whose labels no longer match")
	} else if f.forgets {
		line("releases", "nothing: it keeps a dependent whose labels no longer match, and creates another one")
	}
	line("names", f.fixed...)
	for _, gvk := range f.once {
		line("creates once", gvk.Kind+": one that is deleted after the sample has settled is not created again")
	}
	for _, text := range f.unnoticed {
		line("notices", "no deletion of "+text)
	}
	if f.ticks != nil {
		line("by clock", f.ticks.String())
	} else if f.leaves > 0 && s.lasts > 0 {
		line("by clock", fmt.Sprintf("deletes %s after %s: a world ends before, at %s", f.of, f.leaves, s.lasts))
	} else if s.lasts > 0 {
		line("by clock", "a world ends after "+s.lasts.String())
	}
	if len(s.With) > 1 { // the garbage collector is always in the list
		line("beside", s.With...)
	}
	for _, c := range f.creates {
		if c.kind.Kind == "PersistentVolumeClaim" {
			line("no binder", "a PersistentVolumeClaim is never Bound: what the controller does then is not tried")
			break
		}
	}
	for _, gvk := range f.asleep {
		line("no event", "on a "+gvk.Kind+" wakes it")
	}
	for _, e := range f.follows() {
		line("follows", e.String())
	}
	var gone []string
	for _, e := range f.removes {
		if e.removes() {
			gone = append(gone, e.name)
		}
	}
	if len(gone) > 0 {
		line("follows", "the removal of "+strings.Join(gone, ", "))
	}
	if f.breaks != nil {
		line("panics", "if the sample has no "+f.breaks.name)
	}
	for _, e := range f.history {
		line("follows", e.String()+", and it keeps what it had before")
	}
	for _, d := range f.distinct {
		line("chooses", d.String()+": another value for each owner")
	}
	if f.keeps != nil {
		line("keeps", f.keeps.String())
	}
	if f.renamed != nil {
		line("keeps", f.renamed.String())
	}
	if f.partly != nil {
		line("keeps", f.partly.String())
	}
	if f.untried > 0 {
		line("not tried", fmt.Sprintf("%d further fields of its spec", f.untried))
	}
	if f.fights != nil {
		line("follows", f.fights.String()+", and does not settle any more")
	}
	for _, e := range f.waits {
		text := "after " + e.String() + ": it tries again, and writes nothing"
		if e.refused != "" {
			text += "; " + e.refused
		}
		line("waits", text)
	}
	for _, p := range policies {
		if f.takes[p] {
			line("deletes", "its dependents itself when its owner is deleted with policy "+string(p))
		}
	}
	cleans := f.cleans[metav1.DeletePropagationBackground]
	for _, r := range cleans.removes {
		line("deletes", r.kind.Kind+" "+none+" when its owner is deleted")
	}
	for _, gvk := range cleans.leaves {
		text := gvk.Kind + " " + none + " when its owner is deleted"
		if len(f.finalizers) > 0 {
			text += ", though it puts a finalizer on it"
		}
		line("leaves", text)
	}
	line("unknown", inOneLine(f.unknown)...)
	if f.unsettled == "" { // otherwise the line above ends with it
		line("last error", s.complaint)
	}
	if len(s.starts) > 0 {
		line("starts", strings.Join(s.starts, ", ")+": check refuses to start other programs")
	}
	if f.base != nil {
		line("status", complaints(f.base.status())...)
	}
	return b.String()
}

// inOneLine joins the facts for which no time was left.
func inOneLine(unknown []string) (texts []string) {
	var late []string
	for _, text := range unknown {
		if fact, is := strings.CutSuffix(text, ": "+errLate.Error()); is {
			late = append(late, fact)
		} else {
			texts = append(texts, text)
		}
	}
	if len(late) > 0 {
		texts = append(texts, errLate.Error()+" to find out "+strings.Join(late, ", "))
	}
	return texts
}

// plenty is larger than any number of dependents. It is used for limits that cannot be observed: how many dependents
// may be missing, or too many, for a moment.
const plenty = 1 << 20

// declared returns the controller with a Contract that quiet runs complete. Fields that the controller declares stay.
func (f *found) declared(s *operator) host.Controller {
	c := s.Controller
	c.Contract.Profile = s.Profile
	c.Owns = f.owns
	c.Contract.Standalone = append(slices.Clone(c.Contract.Standalone),
		s.alsoElsewhere(slices.Concat(s.own, s.upkeep, f.shared))...)
	c.Contract.Outlives = append(slices.Clone(c.Contract.Outlives), f.outliving()...)
	c.Contract.SharedKinds = append(slices.Clone(c.Contract.SharedKinds), f.also...)
	if len(c.Contract.Finalizers) == 0 && f.stuck == "" {
		c.Contract.Finalizers = f.finalizers
	}
	if c.Contract.Selector == nil && f.selector != nil {
		c.Contract.Selector = func(owner runtime.Object) labels.Selector { return f.selector.of(owner) }
	}
	if len(c.Contract.Unwatched) == 0 {
		c.Contract.Unwatched = f.asleep
	}
	if c.Contract.Replicas == nil && c.Contract.MaxActive == nil && c.Contract.Active == nil && f.wants != nil {
		c.Contract.Replicas = f.wants.of
		c.Contract.Active = func(dependent runtime.Object) bool { return f.counts(s, dependent) }
		c.Contract.MaxSurge = func(runtime.Object) int { return plenty }
		c.Contract.MaxUnavailable = c.Contract.MaxSurge
	}
	return c
}
