package law

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// Violation is one violation of a law.
type Violation struct {
	Law      *Law
	Strength Strength
	Record   int    // index of the record that shows the violation
	Text     string // what happened, in one line: "owned by rs/web-b"

	Controller string // controller of the process that violated the law; "" if no single process did

	Cycle []int // NOFIGHT-1: indexes of the records in the cycle
}

// String returns the violation in one line: "dont-interfere at 12: owned by rs/web-b".
func (b Violation) String() string {
	s := b.Law.Name + " at " + strconv.Itoa(b.Record) + ": " + b.Text
	if b.Strength == Committed {
		s += " (as committed)"
	}
	return s
}

// Report records that the current record violates the law of the running check.
func (j *Judge) Report(s Strength, text string) {
	if j.actor != nil && j.actor.Actor.Opaque && j.checks[j.current].law.Races && j.record.Op == sim.Commit {
		s = Committed // it is unknown what the program had seen when it decided to write
	}
	j.report(Violation{Strength: s, Record: j.record.Index, Text: text})
}

func (j *Judge) report(b Violation) {
	if b.Record < j.forgiven || j.actor != nil && j.actor.Actor.Exempt && b.Cycle == nil {
		return
	}
	s := &j.checks[j.current]
	s.count++
	s.asked = max(s.asked, s.count)
	if j.actor != nil {
		own := j.actor.share(j.current)
		b.Controller = j.actor.Actor.Controller
		if b.Strength == Informed {
			own.Broken++
		}
		own.Exercised = max(own.Exercised, own.Broken)
	}
	if s.count <= j.Keep {
		b.Law = s.law
		j.keep(b)
	}
}

// keep adds a violation. j.informed is the index of the first Informed violation, or the number of violations if
// there is none.
func (j *Judge) keep(b Violation) {
	if b.Strength == Committed && j.informed == len(j.violations) {
		j.informed++
	}
	j.violations = append(j.violations, b)
}

// Violations returns the violations so far, in the order in which they were found. The judge owns the slice.
func (j *Judge) Violations() []Violation { return j.violations }

// First returns the violation that fails the run: the first Informed one or, if Strict is set, the first of any
// strength. It returns nil if the run passes.
func (j *Judge) First() *Violation {
	i := j.informed
	if j.Strict {
		i = 0
	}
	if i < len(j.violations) {
		return &j.violations[i]
	}
	return nil
}

// Fails reports whether a violation fails the run.
func (j *Judge) Fails(b *Violation) bool { return b.Strength == Informed || j.Strict }

// Since drops all violations before the record with this index, and ignores later reports about earlier records. The
// line "laws since=switch" of a scenario calls it.
func (j *Judge) Since(index int) {
	j.forgiven = index
	j.violations = slices.DeleteFunc(j.violations, func(b Violation) bool { return b.Record < index })
	for i := range j.checks {
		j.checks[i].count = 0
	}
	j.informed = slices.IndexFunc(j.violations, func(b Violation) bool { return b.Strength == Informed })
	if j.informed < 0 {
		j.informed = len(j.violations)
	}
	for i := range j.violations {
		for k := range j.checks {
			if j.checks[k].law == j.violations[i].Law {
				j.checks[k].count++
			}
		}
	}
}

// ownedBy describes a ControllerRef: "owned by rs/web-b", "owned by none".
func ownedBy(ref *metav1.OwnerReference) string {
	if ref == nil {
		return "owned by none"
	}
	return "owned by " + refName(ref)
}

func refName(ref *metav1.OwnerReference) string { return sim.Short(ref.Kind) + "/" + ref.Name }

func what(r *sim.Record) string {
	if r.Subresource != "" {
		return r.Verb + " of " + r.Subresource
	}
	return r.Verb
}
