package law

import (
	"slices"
	"strconv"

	"github.com/threelaws/threelaws/sim"
)

// Breach is one breaking of one law.
type Breach struct {
	Law      *Law
	Strength Strength
	Record   int    // index of the record that broke it
	Text     string // what happened, in one line: "owned by rs/web-b"

	Controller string // whose process broke it; "" where it is nobody's alone

	Cycle []int // NOFIGHT-1: the records of the cycle
}

// String renders a breach as one line: "dont-interfere at 12: owned by rs/web-b".
func (b Breach) String() string {
	s := b.Law.Name + " at " + strconv.Itoa(b.Record) + ": " + b.Text
	if b.Strength == Committed {
		s += " (as committed)"
	}
	return s
}

// Report is how a check says that the record it was called for breaks its law.
func (j *Judge) Report(s Strength, text string) {
	if j.actor != nil && j.actor.Actor.Opaque && j.seats[j.sitting].law.Races && j.record.Op == sim.Commit {
		s = Committed // nobody can say what it had been shown when it looked
	}
	j.report(Breach{Strength: s, Record: j.record.Index, Text: text})
}

func (j *Judge) report(b Breach) {
	if b.Record < j.forgiven {
		return
	}
	s := &j.seats[j.sitting]
	s.count++
	s.asked = max(s.asked, s.count)
	if j.actor != nil {
		own := j.actor.share(j.sitting)
		b.Controller = j.actor.Actor.Controller
		if b.Strength == Informed {
			own.Broken++
		}
		own.Asked = max(own.Asked, own.Broken)
	}
	if s.count <= j.Keep {
		b.Law = s.law
		j.keep(b)
	}
}

// keep adds a breach; as long as none was informed, informed follows the end.
func (j *Judge) keep(b Breach) {
	if b.Strength == Committed && j.informed == len(j.breaches) {
		j.informed++
	}
	j.breaches = append(j.breaches, b)
}

// Breaches are the breaches found so far, in the order in which they were
// found. The slice is the judge's own.
func (j *Judge) Breaches() []Breach { return j.breaches }

// First is the breach that fails the run: the first of Informed strength, or
// under Strict the first of any. It is nil while the run passes.
func (j *Judge) First() *Breach {
	i := j.informed
	if j.Strict {
		i = 0
	}
	if i < len(j.breaches) {
		return &j.breaches[i]
	}
	return nil
}

// Fails reports whether a breach fails the run.
func (j *Judge) Fails(b *Breach) bool { return b.Strength == Informed || j.Strict }

// Since forgives everything that happened before the record with that index,
// for ever: "laws since=switch".
func (j *Judge) Since(index int) {
	j.forgiven = index
	j.breaches = slices.DeleteFunc(j.breaches, func(b Breach) bool { return b.Record < index })
	for i := range j.seats {
		j.seats[i].count = 0
	}
	j.informed = slices.IndexFunc(j.breaches, func(b Breach) bool { return b.Strength == Informed })
	if j.informed < 0 {
		j.informed = len(j.breaches)
	}
	for i := range j.breaches {
		for k := range j.seats {
			if j.seats[k].law == j.breaches[i].Law {
				j.seats[k].count++
			}
		}
	}
}
