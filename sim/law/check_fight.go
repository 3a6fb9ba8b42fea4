// Checks of NOFIGHT-1 to NOFIGHT-3, and of EXACT-6, EXACT-7 and EXACT-7b on the settled world.

package law

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// neverFight checks NOFIGHT-1. The runner of the world uses a [fight.Detector] and writes a Fighting record; its
// Reason is the cycle.
func neverFight(j *Judge, r *sim.Record) {
	j.askEach()
	if r.Op == sim.Settled { // no fight was found
		return
	}
	cycle := fight.ParseCycle(r.Reason)
	text := r.Message
	if text == "" {
		text = "the state recurs after " + strconv.Itoa(len(cycle)) + " writes"
	}
	j.report(Breach{Strength: Informed, Record: r.Index, Text: text, Cycle: cycle})
}

// handovers checks NOFIGHT-2. An adoption counts if the owner exists and selects the object as stored. A change of
// labels or a user action starts the count again. An owner that releases on an old view, as after a crash, may
// adopt the object again by the rules: then more handovers are Committed.
type handovers struct {
	opSet
	j    *Judge
	seen map[types.UID]handover
}

type handover struct {
	epoch, count int
	behind       bool // an owner released it on an old view of itself or of the object
}

func newHandovers(j *Judge) Check {
	return &handovers{opSet: ops(sim.Commit), j: j, seen: map[types.UID]handover{}}
}

func (h *handovers) Reset() { clear(h.seen) }

func (h *handovers) Record(r *sim.Record) {
	w := &h.j.write
	if w.Before == nil {
		return
	}
	uid := w.Before.GetUID()
	if w.After == nil {
		if len(h.seen) > 0 {
			delete(h.seen, uid)
		}
		return
	}
	if w.Actor == nil || !w.Claims {
		if len(h.seen) > 0 && !meta.SameLabels(w.Before, w.After) {
			delete(h.seen, uid)
		}
		if h.j.letsGoBehind(r) {
			n := h.of(uid)
			n.behind = true
			h.seen[uid] = n
		}
		return
	}
	s := &h.j.state
	owner := s.Object(w.NewOwner.UID)
	if owner == nil || owner.Ref.Kind != w.Actor.For.Kind || meta.Deleting(owner.Meta) ||
		!s.Selects(w.Actor, owner.Value, w.Before) {
		return
	}
	if w.Owner != nil && h.j.inFamily(r, w.Owner) {
		return // from one of its own to another: no fight
	}
	n := h.of(uid)
	n.count++
	h.seen[uid] = n
	h.j.Ask()
	if n.count > h.j.Handovers {
		strength := committedIf(n.behind)
		h.j.Report(strength, "changes hands "+strconv.Itoa(n.count)+" times, now to "+refName(w.NewOwner))
	}
}

func (h *handovers) of(uid types.UID) handover {
	n := h.seen[uid]
	if n.epoch != h.j.state.epoch {
		n = handover{epoch: h.j.state.epoch}
	}
	return n
}

// Digest hashes how often each object has changed hands.
func (c *handovers) Digest(h *sim.Hash) {
	var sum uint64
	for uid, n := range c.seen { //detcheck:ordered a sum
		if n.epoch == c.j.state.epoch {
			behind := uint64(0)
			if n.behind {
				behind = 1
			}
			sum += digestPair(uid, "", uint64(n.count)<<1|behind)
		}
	}
	h.Word(sum)
}

// letsGoBehind reports whether an owner releases an object on an old view of either.
func (j *Judge) letsGoBehind(r *sim.Record) bool {
	w := &j.write
	if w.Actor == nil || w.After == nil || w.Saw == nil || !w.isFor(w.Owner) || meta.SameRef(w.Owner, w.NewOwner) {
		return false
	}
	if w.Saw.GetResourceVersion() != w.Before.GetResourceVersion() {
		return true
	}
	owner, saw := j.state.Object(w.Owner.UID), meta.Of(r.SawFor)
	return owner != nil && saw != nil && saw.GetResourceVersion() != owner.Meta.GetResourceVersion()
}

func exactSum(j *Judge, r *sim.Record) {
	c := j.survey()
	for i := range c.owners {
		if o := &c.owners[i]; o.want >= 0 && j.settled(o) {
			if o.excused() {
				continue // its controller has an excuse
			}
			j.Ask()
			if o.short() {
				j.Report(Informed, o.text()+c.detail(&j.state, o))
			}
		}
	}
	j.checkSums(c)
}

// alike is the key of owners that want the same objects.
type alike struct{ namespace, kind, selector string }

type sum struct {
	first, n, want, have int
	working              int  // how many of them must have converged
	waits                bool // one of them has an excuse for too few
}

// checkSums adds up what owners with one selector want, and compares it with the objects that one of them owns, or
// nobody owns.
func (j *Judge) checkSums(c *settledCounts) {
	if len(c.owners) < 2 {
		return
	}
	var sums []sum
	at := map[alike]int{}
	for i := range c.owners {
		o := &c.owners[i]
		sel := j.state.selector(o.sub, o.Value)
		if o.want < 0 || sel == nil || len(o.sub.Owns) == 0 || o.sub.Adoptable != nil {
			continue // an owner that also goes by names wants other objects
		}
		key := alike{o.Ref.Namespace, o.sub.Owns[0].Kind, sel.String()}
		k, ok := at[key]
		if !ok {
			k = len(sums)
			at[key] = k
			sums = append(sums, sum{first: i})
		}
		sums[k].n++
		if j.settled(o) {
			sums[k].working++
		}
		sums[k].waits = sums[k].waits || o.waits
		sums[k].want += o.want
		sums[k].have += o.owned
	}
	for i := range sums {
		if sums[i].n > 1 && sums[i].working == sums[i].n {
			j.checkSum(c, &sums[i])
		}
	}
}

func (j *Judge) checkSum(c *settledCounts, s *sum) {
	first := &c.owners[s.first]
	for _, o := range c.orphans {
		if o.Ref.Kind == first.sub.Owns[0].Kind && j.state.wouldOwn(first, o) {
			s.have++
		}
	}
	if s.want != s.have && !(s.waits && s.have < s.want) {
		j.Report(Informed, strconv.Itoa(s.n)+" controllers with one selector want "+strconv.Itoa(s.want)+", "+
			strconv.Itoa(s.have)+" are there")
	}
}

// nothingStays checks EXACT-6. It asks for each object whether the holders of its finalizers are up and watch. A
// process that is down excuses only its own finalizers.
func nothingStays(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		if w := &j.write; w.process != nil && w.Before != nil && len(w.Before.GetFinalizers()) > 0 &&
			(w.After == nil || len(w.After.GetFinalizers()) < len(w.Before.GetFinalizers())) {
			j.Ask()
		}
		return
	}
	for o := range j.state.each {
		if !meta.Deleting(o.Meta) {
			continue
		}
		if j.excused(o, nil) {
			continue
		}
		j.Ask()
		if f := o.Meta.GetFinalizers(); len(f) > 0 {
			j.Report(Informed, o.Ref.String()+" stays terminating, held by "+strings.Join(f, " and ")+" alone")
		} else if o.Ref.Kind == "Namespace" {
			j.Report(Informed, o.Ref.String()+" stays terminating, held by kubernetes alone")
		}
	}
}

// excused reports whether something other than finalizers of running controllers keeps a terminating object: an
// unknown finalizer, a grace period, the condition that the finalizer waits for, or another object for which this
// holds. Objects in way are already being checked and do not excuse each other.
func (j *Judge) excused(o *Object, way []*Object) bool {
	if slices.Contains(way, o) {
		return false
	}
	if len(way) > 0 && !meta.Deleting(o.Meta) {
		return !j.resolvable(o) // its owners hold it; an owner that cannot be found (GC-7) cannot act
	}
	way = append(way, o)
	finalizers := o.Meta.GetFinalizers()
	if o.Ref.Kind == "Namespace" && len(finalizers) == 0 {
		return !j.state.drained() || j.state.keptByOthers(o) || j.anyExcusedIn(o.Ref.Name, way)
	}
	if len(finalizers) == 0 {
		return true
	}
	for _, f := range finalizers {
		if !j.state.managed(f) || j.state.kept(o, f) || f == metav1.FinalizerDeleteDependents &&
			j.anyExcusedBlocking(o, way) {
			return true
		}
	}
	return false
}

func (j *Judge) anyExcusedBlocking(o *Object, way []*Object) bool {
	uid := o.Meta.GetUID()
	for _, d := range j.state.Dependents(uid) {
		if meta.Blocks(meta.RefTo(d.Meta, uid)) && j.excused(d, way) {
			return true
		}
	}
	return false
}

func (j *Judge) anyExcusedIn(namespace string, way []*Object) bool {
	for o := range j.state.each {
		if o.Ref.Namespace == namespace && o.Ref.Kind != "Event" && j.excused(o, way) {
			return true
		}
	}
	return false
}

// SameEnd is the clause that is violated by a world that settles otherwise than in a quiet run of the same actions.
const SameEnd = "EXACT-13"

// ComeToRest is the clause that is violated by a world that does not settle.
const ComeToRest = "EXACT-7"

// Disturbed is the Reason of an Unsettled record about a world in which a process is down or a watch is paused.
const Disturbed = "disturbed"

// comeToRest checks EXACT-7. The runner of the world writes an Unsettled record when it gives up waiting.
func comeToRest(j *Judge, r *sim.Record) {
	j.askEach()
	if r.Op != sim.Settled && r.Reason != Disturbed {
		j.Report(Informed, r.Message)
	}
}

// neverPanic checks EXACT-7b. The history records how a program ended, or that the world settled without a panic.
func neverPanic(j *Judge, r *sim.Record) {
	switch r.Op {
	case sim.Settled:
		for _, p := range j.state.processes {
			if p.Actor.opaque() == 1 && p.works() {
				j.actor = p
				j.Ask()
			}
		}
	case sim.FaultHit:
		if why, is := strings.CutPrefix(r.Reason, sim.Panicked); is {
			j.Ask()
			j.Report(Informed, why)
		}
	default:
		j.Ask()
		if r.Reason == "panic" {
			j.Report(Informed, r.Message)
		}
	}
}
