package law

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/sim"
)

const numOps = int(sim.Unsettled) + 1

// Judge checks a run against a set of laws. It is a [sim.Observer]: it sees every record once, in order, and learns
// about the world only from records. A runner calls Observe, and then First, Violations and Verdicts. The checks of
// laws call Write, State, Exercise and Report.
type Judge struct {
	Strict bool // a Committed violation fails the run too

	// Limits of some laws. NewJudge sets them to 1, 10 and 1000.
	Handovers int // NOFIGHT-2: maximum number of handovers of one object between two user actions
	HotLoop   int // WRITE-8: maximum number of retries of a key in a row, each less than a second after the failure
	Keep      int // maximum number of violations that are kept for each law; later ones are only counted
	// Memory limits what the judge of an endless run remembers. The judge keeps facts about a removed object for at
	// least this number of records. It never reports a violation that depends on forgotten facts. If Memory is zero, it
	// forgets nothing.
	Memory int

	// Evidence says which facts the records contain. If it is zero, they contain all facts that a simulated world
	// records. Set Evidence and Kinds before the first record.
	Evidence Evidence
	// Kinds reports whether the server serves a kind (ok), and whether the kind is namespaced. The apiVersion "" stands
	// for any version. If the server's kinds are not known, the field is nil.
	Kinds func(apiVersion, kind string) (namespaced, ok bool)

	evaluating atomic.Pointer[Invariant] // the invariant whose Check is running

	state         State
	write         Write
	route         route
	settledCounts settledCounts

	forgetting forgetting

	laws       []*Law
	checks     []lawCheck
	evidence   Evidence
	assigned   bool                       // whether byOp is set
	byOp       [4][profiles][numOps][]int // indexes of the checks that receive a record, by opaque, heldTo and Op
	current    int                        // index of the running check
	record     *sim.Record
	actor      *process      // the process of the record or of the running check; nil for none
	now        time.Duration // time of the last record
	violations []Violation
	informed   int // index of the first Informed violation in violations; len(violations) if there is none
	forgiven   int // records before this index are not judged
}

// NewJudge returns a judge of a run with these actors. It has no checks for laws with a nil New.
func NewJudge(actors []Actor, laws []*Law) *Judge {
	j := &Judge{Handovers: 1, HotLoop: 10, Keep: 1000, laws: slices.Clip(laws), checks: make([]lawCheck, 0, len(laws))}
	j.state.init()
	for _, a := range actors {
		j.AddActor(a)
	}
	for _, l := range laws {
		if l.New != nil {
			j.addCheck(l)
		}
	}
	return j
}

// AddActor adds a process, before its first record. If the judge has an actor for this process, AddActor replaces it,
// but keeps what the process has seen.
func (j *Judge) AddActor(a Actor) { j.state.addActor(a) }

// AddLaw adds a law that is checked from the next record on, such as an invariant of a new actor ([Contract.Laws]).
// It has no effect if the judge has a law with that ID.
func (j *Judge) AddLaw(l *Law) {
	if l.New == nil || slices.ContainsFunc(j.laws, func(k *Law) bool { return k.ID == l.ID }) {
		return
	}
	j.laws = append(j.laws, l)
	j.addCheck(l)
	j.assigned = false
}

// Begin adds the objects that exist before the history begins. Their creations are not judged. Call it before the
// first record.
func (j *Judge) Begin(standing []sim.Record) {
	for i := range standing {
		j.write.fill(&j.state, &standing[i], nil, 0)
		j.state.fold(&standing[i], nil, &j.write)
	}
}

// State returns the state before the current record.
func (j *Judge) State() *State { return &j.state }

// Write returns what the current record's commit means. It is undefined for other records.
func (j *Judge) Write() *Write { return &j.write }

// Observe judges one record.
func (j *Judge) Observe(r *sim.Record) {
	defer j.misused()
	if !j.assigned {
		j.assignRecords()
	}
	j.record, j.now = r, r.At
	p := j.state.process(r.Process)
	switch r.Op {
	case sim.Commit:
		j.write.fill(&j.state, r, p, j.evidence)
	case sim.Delivery:
		j.route.fill(&j.state, r, p)
	case sim.Settled:
		j.settledCounts.done = false
	}
	for _, i := range j.byOp[p.opaque(r)][p.heldTo()][r.Op] {
		j.current, j.actor = i, p
		j.checks[i].check.Record(r)
	}
	j.state.fold(r, p, &j.write)
	j.forget(r.Index)
}

// heldTo returns the profile of the record's process. A record without an actor, such as Settled, gets the largest
// profile. Then every law receives the record, and selects the actors itself.
func (p *process) heldTo() Profile {
	if p == nil {
		return Upstream
	}
	return p.Actor.Profile
}

// opaque returns what a record shows of the actor: see [Actor.opaque]. A request outside of the announced reconciles
// shows only what a program without announcements shows.
func (p *process) opaque(r *sim.Record) int {
	switch {
	case p == nil:
		return 0
	case p.Actor.Announces && r.Op <= sim.Read && r.For.IsZero():
		return 1
	}
	return p.Actor.opaque()
}

// opaque returns 3 if the actor Announces, 2 if it is Outside, 1 if it is only Opaque, and 0 otherwise.

func (s *Actor) opaque() int {
	switch {
	case s.Announces:
		return 3
	case s.Outside:
		return 2
	case s.Opaque:
		return 1
	}
	return 0
}

// Exercise records that the current record exercises the law of the running check: the record could have violated it.
func (j *Judge) Exercise() {
	j.checks[j.current].asked++
	if j.actor != nil {
		j.actor.share(j.current).Exercised++
	}
}

// askEach counts the law of the running check as exercised: in total, and by each process to which the law applies.
func (j *Judge) askEach() {
	j.checks[j.current].asked++
	for _, p := range j.state.processes {
		if !p.stopped && j.binds(&p.Actor) {
			p.share(j.current).Exercised++
		}
	}
}

// collecting reports whether a garbage collector is running with active watches, and makes it the check's actor.
func (j *Judge) collecting() bool {
	j.actor = j.survey().collector
	return j.actor != nil
}

// binds reports whether the law of the running check applies to an actor.
func (j *Judge) binds(s *Actor) bool {
	l := j.checks[j.current].law
	return l.Profile <= s.Profile && l.asks(s.opaque())
}

// settled reports whether the law of the running check must hold for an owner: the law applies to the owner's
// controller, and each process of this controller is running. It makes the controller's process the actor of the check.
func (j *Judge) settled(o *ownerCount) bool {
	j.actor = j.state.byProcess[o.sub.Process]
	return o.works && j.binds(o.sub)
}

// survey returns the counts of the settled world. They are computed once for each Settled record.
func (j *Judge) survey() *settledCounts {
	if !j.settledCounts.done {
		j.settledCounts.take(&j.state)
	}
	return &j.settledCounts
}

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

// Reset forgets the run but keeps the actors and laws, and reuses memory. The next run starts at record 0.
func (j *Judge) Reset() {
	j.state.reset()
	j.violations = j.violations[:0]
	j.forgiven, j.informed = 0, 0
	j.forgetting = forgetting{}
	for i := range j.checks {
		s := &j.checks[i]
		s.count, s.asked = 0, 0
		if c, ok := s.check.(resetter); ok {
			c.Reset()
		} else {
			s.check = s.law.New(j)
		}
	}
}

// Digest hashes what the judge remembers in addition to the world's own state. Examples are unfinished orphaning
// deletions, lost races, and what the garbage collector has received. An exhaustive search may merge two histories only
// if the laws will also decide equally. Digest leaves out whether a process was off, saw events in another order, or
// had its objects changed by others. These facts do not decide whether there is a violation, only whether WRITE-2,
// WRITE-3 or WRITE-7 also reports it.
func (j *Judge) Digest(h *sim.Hash) {
	j.state.digest(h, j.HotLoop, j.now)
	for i := range j.checks {
		if d, ok := j.checks[i].check.(sim.Digester); ok {
			d.Digest(h)
		}
	}
}

// Undigested names the first law whose check may have state but is no [sim.Digester], or returns "".
func (j *Judge) Undigested() string {
	for i := range j.checks {
		switch j.checks[i].check.(type) {
		case *pure, sim.Digester:
		default:
			return "the check of law " + j.checks[i].law.Name
		}
	}
	return ""
}

type lawCheck struct {
	law   *Law
	check Check
	count int
	asked int // how often the run exercised the law
}

func (j *Judge) addCheck(l *Law) {
	j.checks = append(j.checks, lawCheck{law: l, check: l.New(j)})
}

// assignRecords decides which records each law receives. The evidence must suffice for the law, and the law must apply
// to the process. Observe calls it at the first record, and after AddLaw.
func (j *Judge) assignRecords() {
	j.assigned, j.evidence = true, j.given()
	order := inOrder(j.checks)
	wants := make([]opSet, len(order))
	for i, n := range order {
		wants[i] = j.wants(&j.checks[n])
	}
	slab := make([]int, 0, 8*len(order)) // one allocation for all the lists, because each run needs a judge
	for opaque := range j.byOp {
		for p := range j.byOp[opaque] {
			for op := range numOps {
				from := len(slab)
				for i, n := range order {
					l := j.checks[n].law
					if wants[i].Wants(sim.Op(op)) && l.Profile <= Profile(p) && l.asks(opaque) {
						slab = append(slab, n)
					}
				}
				j.byOp[opaque][p][op] = slab[from:len(slab):len(slab)]
			}
		}
	}
}

// wants returns the operations whose records a law receives. The set is empty if the evidence does not suffice.
func (j *Judge) wants(s *lawCheck) opSet {
	var all opSet
	if s.law.Needs&^j.evidence != 0 {
		return all
	}
	sel, some := s.check.(selective)
	for op := range sim.Op(numOps) {
		if !some || sel.Wants(op) {
			all |= ops(op)
		}
	}
	return all
}

// named changes the order in which laws report violations at the same record. [Judge.First] returns the first
// violation. The default order is the order of the clause list. ADOPT-8 comes first: "the owner was recreated" explains
// more than "another owner has the object" (LAW-1b, LAW-2). Laws with the value 1 come last. They only say how a
// violation happened: by a replaced list of owners (API-6), a garbage collector that considers only controllers
// (ORPHAN-4), or a lost finalizer (FIN-1).
var named = map[string]int{"ADOPT-8": -1, "API-6": 1, "ORPHAN-4": 1, "FIN-1": 1}

// inOrder returns the indexes of the checks in the order in which they report violations.
func inOrder(checks []lawCheck) []int {
	places := make([]int, len(checks))
	order := make([]int, 0, len(checks))
	least, most := 0, 0
	for i := range checks {
		places[i] = named[checks[i].law.ID]
		least, most = min(least, places[i]), max(most, places[i])
	}
	for place := least; place <= most; place++ {
		for i := range checks {
			if places[i] == place {
				order = append(order, i)
			}
		}
	}
	return order
}
