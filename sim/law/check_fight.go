// Checks of NOFIGHT-1 to NOFIGHT-3.

package law

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// neverFight checks NOFIGHT-1. The package that runs the world finds fights with a [fight.Detector] and writes a
// Fighting record. The record's Reason is the cycle.
func neverFight(j *Judge, r *sim.Record) {
	j.askEach()
	if r.Op == sim.Settled { // the run ended without a fight
		return
	}
	cycle := fight.ParseCycle(r.Reason)
	text := r.Message
	if text == "" {
		text = "the state recurs after " + strconv.Itoa(len(cycle)) + " writes"
	}
	j.report(Violation{Strength: Informed, Record: r.Index, Text: text, Cycle: cycle})
}

// handovers checks NOFIGHT-2: it counts adoptions of an object. An adoption counts if the owner exists and selects the
// stored object. A change of labels or a user action resets the count. After a crash, an owner with an old view may
// release an object and adopt it again. Violations after such a release are Committed.
type handovers struct {
	opSet
	j    *Judge
	seen map[types.UID]handover
}

type handover struct {
	epoch, count int
	behind       bool // an owner released the object based on an old version of the owner or of the object
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
		return // no fight: the previous owner is the reconciled object or its dependent
	}
	n := h.of(uid)
	n.count++
	h.seen[uid] = n
	h.j.Exercise()
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

// letsGoBehind reports whether an owner releases an object, based on an old version of the owner or the object.
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
				continue // the owner's controller must wait before it changes the number of dependents
			}
			j.Exercise()
			if o.short() {
				j.Report(Informed, o.text()+c.detail(&j.state, o))
			}
		}
	}
	j.checkSums(c)
}

// alike is a map key of checkSums. Owners that select the same objects have equal keys.
type alike struct{ namespace, kind, selector string }

type sum struct {
	first, n, want, have int
	working              int  // number of owners that must have converged
	waits                bool // an owner must wait before it creates more dependents, so it may have too few
}

// checkSums adds up the wanted dependents of all owners with the same selector. It compares this sum with the number of
// dependents that these owners own or could adopt.
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
			continue // not comparable: the owner wants no number, or adoption depends on more than a selector
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
