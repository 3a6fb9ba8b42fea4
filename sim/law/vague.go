package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// vague are owners for which a life that came after another one wrote something when it had
// been shown less than there was: what it took to be counted for good, or not yet, no later
// life can tell. Numbers that count for good are held to nothing more than a race then
// (EXACT-8, EXACT-12).
type vague map[types.UID]bool

// fold takes in a commit. It is of an owner's status; or it takes a finalizer off a dependent
// of which the process saw whose it is, but not that owner, as one that is nobody's.
func (v *vague) fold(s *State, r *sim.Record, w *Write) {
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

func (v *vague) put(owner types.UID) {
	if *v == nil {
		*v = vague{}
	}
	(*v)[owner] = true
}

// digest tells of which owners it is so.
func (v vague) digest() (sum uint64) {
	for owner := range v { //detcheck:ordered a sum
		sum += digestPair(owner, "vague", 0)
	}
	return sum
}

// forGood reports whether a number counts those that are gone as well.
func forGood(c Count) bool { return c.Once || c.Ever }

// guesses reports whether what a write of a process says of an owner's numbers for good may be
// a guess: of its own, or of a life before it.
func (s *State) guesses(p *process, r *sim.Record, owner types.UID) bool {
	return s.vague[owner] || p.incarnation > 0 && p.behind(s, r, owner)
}

// behind reports whether a process has been shown a dependent of an owner as it was before, or
// not at all, or only since its sync began: what an earlier life had counted it cannot tell
// then.
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
