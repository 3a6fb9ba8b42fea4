package law

import (
	"slices"
	"strconv"
	"time"

	"github.com/threelaws/threelaws/sim"
)

const numOps = int(sim.Unsettled) + 1

// Judge holds a run against a set of laws. It is a [sim.Observer]: it sees
// every record once, in order, and keeps nothing of the world but what records
// told it.
type Judge struct {
	Strict bool // a breach of Committed strength fails the run too
	Bounds Bounds

	// Evidence is what the source of the records knows; zero for everything a
	// world does. Kinds says what the server serves, so that a reference to a kind
	// of which no object was met can be resolved; nil where nobody knows. Both are
	// set before the first record.
	Evidence Evidence
	Kinds    func(apiVersion, kind string) Scope

	state  State
	write  Write
	route  route
	census census

	laws     []*Law
	seats    []seat
	evidence Evidence
	open     bool                    // byOp is made
	byOp     [profiles][numOps][]int // indexes into seats, those of the first to be named first
	sitting  int                     // the seat whose check is running
	record   *sim.Record
	now      time.Duration // of the last record
	breaches []Breach
	informed int // how many breaches come before the first of Informed strength
	forgiven int // breaches by records before this one don't count
}

// Bounds are the numbers some laws leave to whoever judges.
type Bounds struct {
	Handovers int // NOFIGHT-2: hand-overs of one object between two user actions
	HotLoop   int // WRITE-8: retries of one key without any backoff
	Keep      int // breaches kept of each law; later ones are only counted
}

// DefaultBounds are the bounds a new judge has.
var DefaultBounds = Bounds{Handovers: 1, HotLoop: 10, Keep: 1000}

// seat is one law with its check of this run.
type seat struct {
	law   *Law
	check Check
	count int
	asked int // how often the law's subject matter came up
}

// Selective is a [Check] that needs only some records; the others are not
// shown to it.
type Selective interface {
	Wants(op sim.Op) bool
}

// Resetter is a [Check] that can forget its run. One that cannot is made anew
// by [Judge.Reset].
type Resetter interface {
	Reset()
}

// NewJudge returns a judge of a run with these subjects. Laws that are checked
// elsewhere are left out.
func NewJudge(subjects []Subject, laws []*Law) *Judge {
	j := &Judge{Bounds: DefaultBounds, laws: laws}
	j.state.init()
	for _, s := range subjects {
		j.AddSubject(s)
	}
	for _, l := range laws {
		if l.New != nil {
			j.seat(l)
		}
	}
	return j
}

func (j *Judge) seat(l *Law) {
	j.seats = append(j.seats, seat{law: l, check: l.New(j)})
}

// convene decides which records which law is shown: it is one that the evidence
// is enough for, and that whoever acts owes. It waits for the first record, so that
// everything has been set by then.
func (j *Judge) convene() {
	j.open, j.evidence = true, j.given()
	order := inOrder(j.seats)
	slab := make([]int, 0, 8*len(order)) // of all the lists: a judge is made for each run
	for p := range j.byOp {
		for op := range numOps {
			from := len(slab)
			for _, n := range order {
				if j.shown(&j.seats[n], Profile(p), sim.Op(op)) {
					slab = append(slab, n)
				}
			}
			j.byOp[p][op] = slab[from:len(slab):len(slab)]
		}
	}
}

// shown reports whether a law is shown the records of an operation by those who
// are held to a profile.
func (j *Judge) shown(s *seat, p Profile, op sim.Op) bool {
	sel, selective := s.check.(Selective)
	return s.law.Profile <= p && j.knows(s.law.Needs) && (!selective || sel.Wants(op))
}

// AddSubject makes one more process known, before its first record. A process
// that is known already is described anew: what it has seen is kept.
func (j *Judge) AddSubject(s Subject) { j.state.addSubject(s) }

// State is what the records so far add up to. While a check runs, the record
// it was called for is not yet part of it.
func (j *Judge) State() *State { return &j.state }

// Write is what there is to know of the commit a check was called for.
func (j *Judge) Write() *Write { return &j.write }

// Observe judges one record.
func (j *Judge) Observe(r *sim.Record) {
	if !j.open {
		j.convene()
	}
	j.record, j.now = r, r.At
	p := j.state.byProcess[r.Process]
	switch r.Op {
	case sim.Commit:
		j.write.fill(&j.state, r, p, j.evidence)
	case sim.Delivery:
		j.route.fill(&j.state, r, p)
	case sim.Settled:
		j.census.taken = false
	}
	for _, i := range j.byOp[p.heldTo()][r.Op] {
		j.sitting = i
		j.seats[i].check.Record(r)
	}
	j.state.fold(r, p, &j.write)
}

// Report is how a check says that the record it was called for breaks its law.
func (j *Judge) Report(s Strength, text string) {
	j.report(Breach{Strength: s, Record: j.record.Index, Text: text})
}

// ask is how a check says that the record it was called for is one that its law
// is about: something that could have broken it.
func (j *Judge) ask() { j.seats[j.sitting].asked++ }

func (j *Judge) report(b Breach) {
	if b.Record < j.forgiven {
		return
	}
	s := &j.seats[j.sitting]
	s.count++
	s.asked = max(s.asked, s.count)
	if s.count <= j.Bounds.Keep {
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

// Reset forgets the run but keeps the subjects, the laws and the memory they
// took up: the next run starts at record 0.
func (j *Judge) Reset() {
	j.state.reset()
	j.breaches = j.breaches[:0]
	j.forgiven, j.informed = 0, 0
	for i := range j.seats {
		s := &j.seats[i]
		s.count, s.asked = 0, 0
		if c, ok := s.check.(Resetter); ok {
			c.Reset()
		} else {
			s.check = s.law.New(j)
		}
	}
}

// String renders a breach as one line: "dont-interfere at 12: owned by rs/web-b".
func (b Breach) String() string {
	s := b.Law.Name + " at " + strconv.Itoa(b.Record) + ": " + b.Text
	if b.Strength == Committed {
		s += " (as committed)"
	}
	return s
}
