// Check of EXACT-12: a count for good counts each dependent once.

package law

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// once checks EXACT-12. It remembers which dependents of an owner have ever matched each of its Once counts.
type once struct {
	opSet
	j    *Judge
	ever map[tally]map[types.UID]bool
	more map[tally]int // that another process, or an unknown one, wrote into the status
}

// tally is one count of one owner.
type tally struct {
	owner types.UID
	count string
}

func newOnce(j *Judge) Check {
	return &once{opSet: ops(sim.Commit), j: j, ever: map[tally]map[types.UID]bool{}, more: map[tally]int{}}
}

func (c *once) Reset() {
	clear(c.ever)
	clear(c.more)
}

// Digest hashes what has matched. The state of the world does not tell this about deleted objects.
func (c *once) Digest(h *sim.Hash) {
	var sum uint64
	for t, uids := range c.ever { //detcheck:ordered a sum
		for uid := range uids { //detcheck:ordered a sum
			sum += digestPair(t.owner, uid, sim.HashString(t.count))
		}
	}
	for t, n := range c.more { //detcheck:ordered a sum
		sum += digestPair(t.owner, types.UID(t.count), uint64(n))
	}
	h.Word(sum)
}

func (c *once) Record(r *sim.Record) {
	w := &c.j.write
	for _, p := range c.j.state.processes {
		for i := range p.Actor.Counts {
			count := &p.Actor.Counts[i]
			if !count.Once {
				continue
			}
			c.note(r, w, &p.Actor, count)
			if r.Object.Kind == p.Actor.For.Kind && w.After != nil {
				c.status(r, w, p, count)
			}
		}
	}
}

// note remembers a dependent that matches now.
func (c *once) note(r *sim.Record, w *Write, sub *Actor, count *Count) {
	if !sub.manages(r.Object.Kind) || w.NewOwner == nil || w.NewOwner.Kind != sub.For.Kind {
		return
	}
	t := tally{w.NewOwner.UID, count.Name}
	o := c.j.state.Object(w.NewOwner.UID)
	if o == nil || count.of(o.Value, r.After) == 0 {
		return
	}
	if c.ever[t][w.After.GetUID()] {
		if again(sub, w) {
			c.more[t]++
		}
		return
	}
	if c.ever[t] == nil {
		c.ever[t] = map[types.UID]bool{}
	}
	c.ever[t][w.After.GetUID()] = true
}

// again reports whether the actor's finalizer is added to a dependent again: the dependent then counts once more.
func again(sub *Actor, w *Write) bool {
	return slices.ContainsFunc(sub.Finalizers, func(f string) bool {
		return meta.Finalized(w.After, f) && !meta.Finalized(w.Before, f)
	})
}

// status checks a status whose count grows. What others write into it raises the limit.
func (c *once) status(r *sim.Record, w *Write, p *process, count *Count) {
	n, was := count.Of(objectOf(r.After)), 0
	if w.Before != nil {
		was = count.Of(objectOf(r.Before))
	}
	if n <= was {
		return
	}
	t := tally{w.After.GetUID(), count.Name}
	most := len(c.ever[t]) + c.more[t]
	if w.process != p {
		if n > most && !(w.Actor != nil && w.Actor.For.Kind == p.Actor.For.Kind) {
			c.more[t] += n - most
		}
		return
	}
	c.j.Ask()
	if n <= most {
		return
	}
	s := Informed
	if c.j.state.guesses(p, r, t.owner) {
		s = Committed
	}
	c.j.Report(s, count.Name+" is "+strconv.Itoa(n)+", there have been no more than "+strconv.Itoa(most))
}
