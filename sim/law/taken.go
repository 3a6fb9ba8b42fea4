package law

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// taken are dependents that their owner's controller had created by names of its
// own choice, and that somebody else deleted, or that it deleted itself because they
// had come to an end. Such dependents are not
// interchangeable: web-0 is put back although web-1 is one too many, and web-1 goes
// although web-0 is missing. Neither is overdone (EXACT-1, EXACT-2).
type taken struct {
	names map[place]bool
	count map[types.UID]int // by owner
}

// place is where a dependent of one owner belongs.
type place struct {
	owner types.UID
	kind  string
	name  view.Key
}

func (t *taken) reset() {
	clear(t.names)
	clear(t.count)
}

func (t *taken) fold(s *stored, r *sim.Record, w *Write) {
	switch {
	case w.Before == nil:
		if ref := w.NewOwner; ref != nil && t.count[ref.UID] > 0 {
			t.put(place{ref.UID, r.Object.Kind, view.KeyOf(r.Object)}, false)
		}
	case w.Deletes && w.Owner != nil && !w.Mine && ownName(s, w):
		if o := s.Object(w.Before.GetUID()); o != nil && o.maker != nil && o.maker.For.Kind == w.Owner.Kind &&
			o.maker != w.maker() {
			t.put(place{w.Owner.UID, r.Object.Kind, view.KeyOf(r.Object)}, true)
		}
	case w.Deletes && w.Mine && w.Actor != nil && w.Actor.Wanted != nil && !w.Actor.counts(r.Before, w.Before) &&
		!meta.Deleting(w.Before):
		t.put(place{w.Owner.UID, r.Object.Kind, view.KeyOf(r.Object)}, true)
	}
}

// ownName reports whether an object has a name of its maker's choice: one that the
// server did not make up, or that tells it from others whatever it was made up from.
func ownName(s *stored, w *Write) bool {
	if w.Before.GetGenerateName() == "" {
		return true
	}
	o := s.Object(w.Before.GetUID())
	return o != nil && o.maker != nil && o.maker.Wanted != nil
}

func (t *taken) put(p place, is bool) {
	if t.names[p] == is {
		return
	}
	if t.names == nil {
		t.names, t.count = map[place]bool{}, map[types.UID]int{}
	}
	if is {
		t.names[p] = true
		t.count[p.owner]++
		return
	}
	delete(t.names, p)
	t.count[p.owner]--
}

// from is how many dependents others have taken from an owner and that are not
// back.
func (t *taken) from(owner types.UID) int { return t.count[owner] }

// back reports whether a creation puts back what others took.
func (t *taken) back(owner types.UID, r *sim.Record) bool {
	return t.count[owner] > 0 && t.names[place{owner, r.Object.Kind, view.KeyOf(r.Object)}]
}
