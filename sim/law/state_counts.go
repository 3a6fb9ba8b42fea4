package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// everOwned counts the dependents that owners have ever had, for kinds whose status counts deleted ones too. The
// status can count no more (EXACT-8).
type everOwned struct {
	kinds []string
	had   map[types.UID]int // by owner; what others write into its status is taken as true
}

// know adds an actor whose owners are followed.
func (e *everOwned) know(sub *Actor) {
	if slices.ContainsFunc(sub.Counts, func(c Count) bool { return c.Ever }) && !slices.Contains(e.kinds, sub.For.Kind) {
		e.kinds = append(e.kinds, sub.For.Kind)
	}
}

func (e *everOwned) fold(s *State, r *sim.Record, w *Write) {
	if len(e.kinds) == 0 || w.After == nil {
		return
	}
	if ref := w.NewOwner; ref != nil && !meta.SameRef(w.Owner, ref) && slices.Contains(e.kinds, ref.Kind) {
		e.more(ref.UID, 1)
	}
	if !slices.Contains(e.kinds, r.Object.Kind) || w.process != nil && w.process.Actor.For.Kind == r.Object.Kind {
		return
	}
	for _, p := range s.processes {
		if p.Actor.For.Kind == r.Object.Kind {
			e.more(w.After.GetUID(), p.Actor.told(r.Before, r.After))
			return
		}
	}
}

// told returns by how much a write raises the numbers that include deleted dependents.
func (s *Actor) told(before, after any) (n int) {
	for i := range s.Counts {
		c, was := &s.Counts[i], 0
		if !c.Ever {
			continue
		}
		if before != nil {
			was = max(c.Of(objectOf(before)), 0)
		}
		n = max(n, c.Of(objectOf(after))-was)
	}
	return n
}

func (e *everOwned) more(owner types.UID, n int) {
	if n <= 0 {
		return
	}
	if e.had == nil {
		e.had = map[types.UID]int{}
	}
	e.had[owner] += n
}

func (e *everOwned) digest() uint64 {
	var sum uint64
	for owner, n := range e.had { //detcheck:ordered a sum
		sum += digestPair(owner, "ever", uint64(n))
	}
	return sum
}

// uncertainCounts holds owners for which a restarted process wrote something before it had been shown everything.
// No later life can tell what that one counted for good. Violations of such counts are only Committed (EXACT-8,
// EXACT-12).
type uncertainCounts map[types.UID]bool

// fold handles a commit: a status write, or the removal of a finalizer from a dependent whose owner is not in the
// process's cache.
func (v *uncertainCounts) fold(s *State, r *sim.Record, w *Write) {
	p := w.process
	if p == nil || p.incarnation == 0 || w.After == nil || !slices.ContainsFunc(p.Actor.Counts, forGood) {
		return
	}
	switch {
	case r.Object.Kind == p.Actor.For.Kind:
		if s.guesses(p, r, w.After.GetUID()) {
			v.put(w.After.GetUID())
		}
	case w.Owner != nil && w.Owner.Kind == p.Actor.For.Kind && p.manages(r.Object.Kind) && letsGo(&p.Actor, w) &&
		meta.SameRef(w.SawOwner, w.Owner) && p.resolve(w.Owner, r.Object.Namespace) == "":
		v.put(w.Owner.UID)
	}
}

func (v *uncertainCounts) put(owner types.UID) {
	if *v == nil {
		*v = uncertainCounts{}
	}
	(*v)[owner] = true
}

// digest hashes the owners.
func (v uncertainCounts) digest() (sum uint64) {
	for owner := range v { //detcheck:ordered a sum
		sum += digestPair(owner, "uncertainCounts", 0)
	}
	return sum
}

// forGood reports whether a number includes deleted dependents.
func forGood(c Count) bool { return c.Once || c.Ever }

// guesses reports whether counts for good in a process's write may be a guess of this life or an earlier one.
func (s *State) guesses(p *process, r *sim.Record, owner types.UID) bool {
	return s.uncertainCounts[owner] || p.incarnation > 0 && p.behind(s, r, owner)
}

// behind reports whether a process has been shown an old version of a dependent of the owner, or none, or one only
// since its sync began. Then it cannot tell what an earlier life has counted.
func (p *process) behind(s *State, r *sim.Record, owner types.UID) bool {
	k := p.work(r)
	for _, gvk := range p.Actor.Owns {
		kind := gvk.Kind
		if k != nil && k.begun > 0 && p.Cache(kind).Changed > k.begun {
			return true
		}
	}
	for _, e := range p.known.Members(owner) {
		o := s.Object(e.UID)
		if o == nil || e.Meta == nil || meta.Version(o.Meta) != meta.Version(e.Meta) {
			return true
		}
	}
	return slices.ContainsFunc(s.Dependents(owner), func(o *Object) bool {
		return p.manages(o.Ref.Kind) && p.known.ByUID[o.Meta.GetUID()] == nil
	})
}
