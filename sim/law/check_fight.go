// The checks of NOFIGHT-1 to NOFIGHT-3.

package law

import (
	"k8s.io/apimachinery/pkg/types"
	"strconv"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// neverFight is NOFIGHT-1: whoever watches the world with a [fight.Detector] writes
// a Fighting record whose Reason is the cycle.
func neverFight(j *Judge, r *sim.Record) {
	j.askEach()
	if r.Op == sim.Settled { // there was none
		return
	}
	cycle := fight.ParseCycle(r.Reason)
	text := r.Message
	if text == "" {
		text = "the state recurs after " + strconv.Itoa(len(cycle)) + " writes"
	}
	j.report(Breach{Strength: Informed, Record: r.Index, Text: text, Cycle: cycle})
}

// handovers is NOFIGHT-2. An adoption counts when it was right for the state
// it landed on: by an owner that is there and selects the object as it is. A
// change of labels starts the count anew, and so does a user's action. An
// owner that lets go on an older view, as after a crash, may take back by the rules
// what it had: more handovers are then Committed.
type handovers struct {
	opSet
	j    *Judge
	seen map[types.UID]handover
}

type handover struct {
	epoch, count int
	behind       bool // an owner let go on an older view of itself or of the object
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
		return // from one of its own to another: nobody is fought over it
	}
	n := h.of(uid)
	n.count++
	h.seen[uid] = n
	h.j.Ask()
	if n.count > h.j.Handovers {
		strength := Informed
		if n.behind {
			strength = Committed
		}
		h.j.Report(strength, "changes hands "+strconv.Itoa(n.count)+" times, now to "+refName(w.NewOwner))
	}
}

// of is what an object has seen in this epoch.
func (h *handovers) of(uid types.UID) handover {
	n := h.seen[uid]
	if n.epoch != h.j.state.epoch {
		n = handover{epoch: h.j.state.epoch}
	}
	return n
}

// Digest folds how often each object has changed hands.
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

// letsGoBehind reports whether an owner releases an object in a sync that went by an
// older version of either.
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

// exactSum is NOFIGHT-3.
func exactSum(j *Judge, r *sim.Record) {
	c := j.survey()
	for i := range c.owners {
		if o := &c.owners[i]; o.want >= 0 && j.settled(o) {
			if o.excused() {
				continue // its controller has an excuse: nothing is asked
			}
			j.Ask()
			if o.short() {
				j.Report(Informed, o.text()+c.detail(&j.state, o))
			}
		}
	}
	j.checkSums(c)
}

// alike names the owners that ask for the same objects.
type alike struct{ namespace, kind, selector string }

// sum is what a group of them wants and has.
type sum struct {
	first, n, want, have int
	working              int  // how many of them must have converged
	waits                bool // one of them has an excuse for too few
}

// checkSums adds up the owners that ask for the same objects and compares with
// what is there: owned by one of them, or by none.
func (j *Judge) checkSums(c *census) {
	if len(c.owners) < 2 {
		return
	}
	var sums []sum
	at := map[alike]int{}
	for i := range c.owners {
		o := &c.owners[i]
		sel := j.state.selector(o.sub, o.Value)
		if o.want < 0 || sel == nil || len(o.sub.Owns) == 0 || o.sub.Adoptable != nil {
			continue // one that goes by names as well asks for others than its like
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

func (j *Judge) checkSum(c *census, s *sum) {
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
