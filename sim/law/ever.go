package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// ever is how many dependents owners have had, of the kinds whose status counts those
// that are gone as well: no more can have been such (EXACT-8).
type ever struct {
	kinds []string
	had   map[types.UID]int // by owner; what others wrote into its status is taken to be true
}

// know takes in a subject whose owners are to be followed.
func (e *ever) know(sub *Actor) {
	if slices.ContainsFunc(sub.Counts, func(c Count) bool { return c.Ever }) && !slices.Contains(e.kinds, sub.For.Kind) {
		e.kinds = append(e.kinds, sub.For.Kind)
	}
}

func (e *ever) fold(s *State, r *sim.Record, w *Write) {
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

// told is by how much a write raises the numbers that count those that are gone.
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

func (e *ever) more(owner types.UID, n int) {
	if n <= 0 {
		return
	}
	if e.had == nil {
		e.had = map[types.UID]int{}
	}
	e.had[owner] += n
}

func (e *ever) digest() uint64 {
	var sum uint64
	for owner, n := range e.had { //detcheck:ordered a sum
		sum += digestPair(owner, "ever", uint64(n))
	}
	return sum
}
