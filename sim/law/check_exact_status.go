// Checks of EXACT-8 and EXACT-12: the counts in a status.

package law

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// exactStatus checks EXACT-8. During a run, it checks each count that a write changes. The reconcile may have read each
// dependent at any moment between its start and the write. Every count that results from such reads is right. In the
// settled world, each count must match the stored objects. A count with deleted dependents may never exceed the number
// that the owner has ever had. In the settled world, it may not be below the number of existing dependents.
func exactStatus(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.settledStatuses()
		return
	}
	w := &j.write
	if w.Actor == nil || len(w.Actor.Counts) == 0 || w.Before == nil || w.After == nil ||
		r.Object.Kind != w.Actor.For.Kind || string(w.After.GetUID()) != r.For.UID {
		return
	}
	k := w.counting(r)
	if k == nil || k.listed { // the record of a list does not contain the listed objects
		return
	}
	j.Exercise()
	if _, over := overcounted(w, r); over {
		return
	}
	seen := w.process.known.Journal.Since(k.begun)
	for i := range w.Actor.Counts {
		c := &w.Actor.Counts[i]
		n := c.Of(objectOf(r.After))
		if n < 0 || n == c.Of(objectOf(r.Before)) || c.Once {
			continue
		}
		if had := j.state.everOwned.had[k.owner]; c.Ever && n > had && n > c.Of(objectOf(r.Before)) {
			s := committedIf(j.state.guesses(w.process, r, k.owner))
			j.Report(s, c.Name+" is "+strconv.Itoa(n)+", it has had "+strconv.Itoa(had))
			return
		}
		if c.Ever {
			continue
		}
		if low, high := j.explained(w, r, k, c, seen, false); n >= low && n <= high {
			continue
		}
		if low, high := j.explained(w, r, k, c, seen, true); n < low || n > high {
			j.Report(Informed, c.Name+" is "+strconv.Itoa(n)+", it has been shown "+between(low, high))
			return
		}
	}
}

func between(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return strconv.Itoa(low) + " to " + strconv.Itoa(high)
}

// explained returns the lowest and the highest count that the actor's cache and answers explain. low counts the
// dependents that matched during the whole reconcile, except those that a request found missing. If selected is set,
// low also leaves out dependents that the owner does not select or would not adopt. high counts the dependents that
// matched at any moment of the reconcile.
func (j *Judge) explained(w *Write, r *sim.Record, k *work, c *Count, s *view.Sorted, selected bool) (low, high int) {
	n := &w.process.known
	look := func(uid types.UID, e *view.Sight) {
		m := moments{c: c, seen: r.SawFor, owner: k.owner, least: -1}
		if selected && w.Actor.Selector != nil {
			m.state, m.sub = &j.state, w.Actor
		}
		m.sight(e)
		for i := s.First(uid); i >= 0; i = s.Next(i) {
			m.at(n.Journal.Entries[i].Value, n.Journal.Entries[i].Owner)
			m.inCache(n.Journal.Entries[i].Cached)
		}
		if m.mine {
			high += m.most
		}
		low += max(m.least, 0)
	}
	for _, e := range n.Members(k.owner) {
		look(e.UID, e)
	}
	for _, e := range n.Ahead {
		if e.Owner != k.owner && w.process.manages(e.Kind) {
			look(e.UID, e)
		}
	}
	for i := range n.Journal.Entries {
		g := &n.Journal.Entries[i]
		if g.Record < k.begun || s.First(g.UID) != i || !w.process.manages(g.Kind) {
			continue
		}
		if e := n.ByUID[g.UID]; e == nil || e.Owner != k.owner && !e.Ahead {
			look(g.UID, e)
		}
	}
	if c.Each != nil && k.missed > 0 {
		return 0, high // it is unknown how much each missing dependent adds
	}
	return low - k.missed, high
}

// moments holds the largest and the smallest number that one object adds to a count during a reconcile.
type moments struct {
	c     *Count
	seen  any // the owner as the actor read it
	owner types.UID
	mine  bool // the owner controlled the object at some moment
	most  int  // the largest number at any moment, even under another owner
	least int  // the smallest number at any moment; a moment under another owner counts as 0; -1 until one is recorded

	state *State // if set, an object that the owner does not select counts as 0 in least
	sub   *Actor
}

// sight records what the actor knows about an object now. If the actor no longer knows the object, e is nil.
func (m *moments) sight(e *view.Sight) {
	if e == nil {
		m.least = 0
		return
	}
	m.at(e.Value, e.Owner)
	if e.Ahead {
		m.inCache(e.Cached)
	}
}

func (m *moments) inCache(value any) {
	var owner types.UID
	if ref := meta.ControllerOf(meta.Of(value)); ref != nil {
		owner = ref.UID
	}
	m.at(value, owner)
}

// at records an object as it was at one moment. The maximum also includes moments before an adoption, because the actor
// may have read the object then.
func (m *moments) at(value any, owner types.UID) {
	n := m.c.of(m.seen, value)
	m.mine, m.most = m.mine || owner == m.owner, max(m.most, n)
	if owner != m.owner || m.state != nil && value != nil &&
		(!m.state.Selects(m.sub, m.seen, meta.Of(value)) || !m.sub.fits(m.seen, value)) {
		n = 0
	}
	if m.least < 0 || n < m.least {
		m.least = n
	}
}

func (j *Judge) settledStatuses() {
	c := j.survey()
	for i := range c.owners {
		o := &c.owners[i]
		if !j.settled(o) || len(o.sub.Counts) == 0 {
			continue
		}
		if o.sub.Counted != nil && o.sub.Counted(objectOf(o.Value)) > o.held {
			continue // LAW-3 reports that the status counts more than the owner has
		}
		for k := range o.sub.Counts {
			count := &o.sub.Counts[k]
			n := count.Of(objectOf(o.Value))
			if n < 0 || count.Once {
				continue
			}
			j.Exercise()
			there, had := j.state.such(o.sub, count, o.Object), j.state.everOwned.had[o.Meta.GetUID()]
			strength := committedIf(count.Ever && j.state.uncertainCounts[o.Meta.GetUID()])
			switch {
			case count.Ever && n > had:
				j.Report(strength, count.Name+" of "+o.Ref.String()+" is "+strconv.Itoa(n)+", it has had "+strconv.Itoa(had))
			case n < there, n > there && !count.Ever:
				j.Report(strength, count.Name+" of "+o.Ref.String()+" is "+strconv.Itoa(n)+", there are "+strconv.Itoa(there))
			}
		}
	}
}

// such returns the right value of a count. It counts the stored dependents that the owner controls.
func (s *State) such(sub *Actor, c *Count, owner *Object) int {
	n := 0
	for _, d := range s.Dependents(owner.Meta.GetUID()) {
		if meta.ControlledBy(d.Meta, owner.Meta.GetUID()) && sub.manages(d.Ref.Kind) {
			n += c.of(owner.Value, d.Value)
		}
	}
	return n
}

// once checks EXACT-12. For each count with Once set, it remembers all dependents of an owner that have ever matched.
type once struct {
	opSet
	j    *Judge
	ever map[tally]map[types.UID]bool
	more map[tally]int // increases of the limit by status writes of other clients and by finalizers added again
}

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

// Digest hashes ever and more, because the state of the world does not contain deleted dependents.
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

// note adds the written dependent to c.ever if it matches count. If the dependent is in c.ever already, and the actor
// adds a finalizer to it again, note increments c.more.
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

// again reports whether a write adds a finalizer of the actor to a dependent, so that the dependent counts again.
func again(sub *Actor, w *Write) bool {
	return slices.ContainsFunc(sub.Finalizers, func(f string) bool {
		return meta.Finalized(w.After, f) && !meta.Finalized(w.Before, f)
	})
}

// status checks an increase of a count. An increase by a client that does not reconcile the kind raises the limit.
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
	c.j.Exercise()
	if n <= most {
		return
	}
	s := committedIf(c.j.state.guesses(p, r, t.owner))
	c.j.Report(s, count.Name+" is "+strconv.Itoa(n)+", there have been no more than "+strconv.Itoa(most))
}
