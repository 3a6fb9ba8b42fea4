package law

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/sim"
)

const numOps = int(sim.Unsettled) + 1

// Judge holds a run against a set of laws. It is a [sim.Observer]: it sees
// every record once, in order, and keeps nothing of the world but what records
// told it. Whoever drives it calls Observe, and reads First, Breaches and Verdicts; a
// check that it runs calls Write, State, Ask and Report.
type Judge struct {
	Strict bool // a breach of Committed strength fails the run too

	// What some laws leave to whoever judges. NewJudge sets 1, 10 and 1000.
	Handovers int // NOFIGHT-2: hand-overs of one object between two user actions
	HotLoop   int // WRITE-8: retries of one key in a row that were hardly waited for
	Keep      int // breaches kept of each law; later ones are only counted
	// Memory is for how many records at least it remembers what nothing names any more, so
	// that a judge of a world that goes on for ever does not grow. What it may have
	// forgotten it holds against nobody. Zero is for ever.
	Memory int

	// Evidence is what the source of the records knows; zero for everything a
	// world does. Kinds says what the server serves, so that a reference to a kind
	// of which no object was met can be resolved; nil where nobody knows. Both are
	// set before the first record.
	Evidence Evidence
	Kinds    func(apiVersion, kind string) (namespaced, ok bool)

	asking atomic.Pointer[Invariant] // whose Check is running

	state  State
	write  Write
	route  route
	census census

	oblivion oblivion

	laws     []*Law
	seats    []seat
	evidence Evidence
	open     bool                       // byOp is made
	byOp     [3][profiles][numOps][]int // indexes into seats, first to be named first; [1] for the Opaque, [2] Outside
	sitting  int                        // the seat whose check is running
	record   *sim.Record
	actor    *process      // whom the record, or what a check looks at now, is about; nil for none
	now      time.Duration // of the last record
	breaches []Breach
	informed int // how many breaches come before the first of Informed strength
	forgiven int // breaches by records before this one don't count
}

// NewJudge returns a judge of a run with these actors. Laws that are checked
// elsewhere are left out.
func NewJudge(actors []Actor, laws []*Law) *Judge {
	j := &Judge{Handovers: 1, HotLoop: 10, Keep: 1000, laws: slices.Clip(laws), seats: make([]seat, 0, len(laws))}
	j.state.init()
	for _, a := range actors {
		j.AddActor(a)
	}
	for _, l := range laws {
		if l.New != nil {
			j.seat(l)
		}
	}
	return j
}

// AddActor makes one more process known, before its first record. A process
// that is known already is described anew: what it has seen is kept.
func (j *Judge) AddActor(a Actor) { j.state.addActor(a) }

// AddLaw judges by one more law, as an invariant that an actor brings ([Contract.Laws]): records from here on. One with
// the ID of another is left out.
func (j *Judge) AddLaw(l *Law) {
	if l.New == nil || slices.ContainsFunc(j.laws, func(k *Law) bool { return k.ID == l.ID }) {
		return
	}
	j.laws = append(j.laws, l)
	j.seat(l)
	j.open = false
}

// Begin tells the laws of what is there before the history begins: a creation each, which nobody
// is asked for. It is to be called before the first record.
func (j *Judge) Begin(standing []sim.Record) {
	for i := range standing {
		j.write.fill(&j.state, &standing[i], nil, 0)
		j.state.fold(&standing[i], nil, &j.write)
	}
}

// State is what the records so far add up to. While a check runs, the record
// it was called for is not yet part of it.
func (j *Judge) State() *State { return &j.state }

// Write is what the commit does that a check was called for. For another record it
// says nothing.
func (j *Judge) Write() *Write { return &j.write }

// Observe judges one record.
func (j *Judge) Observe(r *sim.Record) {
	if !j.open {
		j.convene()
	}
	j.record, j.now = r, r.At
	p := j.state.process(r.Process)
	switch r.Op {
	case sim.Commit:
		j.write.fill(&j.state, r, p, j.evidence)
	case sim.Delivery:
		j.route.fill(&j.state, r, p)
	case sim.Settled:
		j.census.taken = false
	}
	for _, i := range j.byOp[p.opaque()][p.heldTo()][r.Op] {
		j.sitting, j.actor = i, p
		j.seats[i].check.Record(r)
	}
	j.state.fold(r, p, &j.write)
	j.forget(r.Index)
}

// heldTo is the profile of whoever a record is about. A record that is no
// subject's, as those of a world at rest are, is shown to every law: each asks for
// the subjects it finds there.
func (p *process) heldTo() Profile {
	if p == nil {
		return Upstream
	}
	return p.Actor.Profile
}

// opaque is 2 for a subject outside, 1 for another opaque one, 0 for any other.
func (p *process) opaque() int {
	if p == nil {
		return 0
	}
	return p.Actor.opaque()
}

func (s *Actor) opaque() int {
	switch {
	case s.Outside:
		return 2
	case s.Opaque:
		return 1
	}
	return 0
}

// Ask is how a check says that the record it was called for is one that its law
// is about: something that could have broken it.
func (j *Judge) Ask() {
	j.seats[j.sitting].asked++
	if j.actor != nil {
		j.actor.share(j.sitting).Asked++
	}
}

// askEach is Ask for what is about every process that owes the law.
func (j *Judge) askEach() {
	j.seats[j.sitting].asked++
	for _, p := range j.state.processes {
		if !p.stopped && j.binds(&p.Actor) {
			p.share(j.sitting).Asked++
		}
	}
}

// collecting reports whether there is a garbage collector that works: what a check
// looks at from here on is about it.
func (j *Judge) collecting() bool {
	j.actor = j.survey().collector
	return j.actor != nil
}

// binds reports whether the law whose check is running is owed by a subject.
func (j *Judge) binds(s *Actor) bool {
	l := j.seats[j.sitting].law
	return l.Profile <= s.Profile && l.asks(s.opaque())
}

// settled reports whether an owner must have what the law whose check is running
// says: whoever syncs it works, and owes that. What the check looks at from here on is
// about him.
func (j *Judge) settled(o *ownerCount) bool {
	j.actor = j.state.byProcess[o.sub.Process]
	return o.works && j.binds(o.sub)
}

// survey is the census of the world at rest, taken once for the record.
func (j *Judge) survey() *census {
	if !j.census.taken {
		j.census.take(&j.state)
	}
	return &j.census
}

// given is the evidence of this run.
func (j *Judge) given() Evidence {
	e := j.Evidence
	if e == 0 {
		e = everything
	}
	if j.Kinds == nil {
		e &^= Table
	}
	return e
}

// Reset forgets the run but keeps the subjects, the laws and the memory they
// took up: the next run starts at record 0.
func (j *Judge) Reset() {
	j.state.reset()
	j.breaches = j.breaches[:0]
	j.forgiven, j.informed = 0, 0
	j.oblivion = oblivion{}
	for i := range j.seats {
		s := &j.seats[i]
		s.count, s.asked = 0, 0
		if c, ok := s.check.(resetter); ok {
			c.Reset()
		} else {
			s.check = s.law.New(j)
		}
	}
}

// Digest folds what the judge remembers beyond what the world's own state
// tells: what was promised to whom, who lost which race, what the collector was
// told and has read. An exhaustive search then merges two histories only where
// the laws have the same future too. Left out is what merely decides under
// which law's name a breach of NOFIGHT-3 is reported as well: whether a process
// was off, met reordering or had others change what it manages.
func (j *Judge) Digest(h *sim.Hash) {
	j.state.digest(h, j.HotLoop, j.now)
	for i := range j.seats {
		if d, ok := j.seats[i].check.(sim.Digester); ok {
			d.Digest(h)
		}
	}
}

// Undigested names the first law whose check may remember something and is no
// [sim.Digester], "" when there is none.
func (j *Judge) Undigested() string {
	for i := range j.seats {
		switch j.seats[i].check.(type) {
		case *pure, sim.Digester:
		default:
			return "the check of law " + j.seats[i].law.Name
		}
	}
	return ""
}
