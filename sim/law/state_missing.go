package law

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// missingNamed holds dependents with names chosen by their controller that another actor deleted, or that the
// controller deleted after they had finished. They are not interchangeable: web-0 is created again although web-1
// is one too many, and web-1 is deleted although web-0 is missing. Neither violates EXACT-1 or EXACT-2.
type missingNamed struct {
	names map[place]bool
	count map[types.UID]int // by owner
}

// place is the name of a dependent under its owner.
type place struct {
	owner types.UID
	kind  string
	name  view.Key
}

func (t *missingNamed) reset() {
	clear(t.names)
	clear(t.count)
}

func (t *missingNamed) fold(s *stored, r *sim.Record, w *Write) {
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

// ownName reports whether an object's creator chose its name: the server did not generate it, or the contract has
// Wanted.
func ownName(s *stored, w *Write) bool {
	if w.Before.GetGenerateName() == "" {
		return true
	}
	o := s.Object(w.Before.GetUID())
	return o != nil && o.maker != nil && o.maker.Wanted != nil
}

func (t *missingNamed) put(p place, is bool) {
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

// of returns how many of an owner's dependents are missing.
func (t *missingNamed) of(owner types.UID) int { return t.count[owner] }

// restores reports whether a creation replaces a missing dependent.
func (t *missingNamed) restores(owner types.UID, r *sim.Record) bool {
	return t.count[owner] > 0 && t.names[place{owner, r.Object.Kind, view.KeyOf(r.Object)}]
}
