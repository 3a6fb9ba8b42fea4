package law

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// promise is what an accepted orphaning deletion owes one dependent: to lose
// the reference, and not to be deleted because of that owner.
type promise struct {
	owner    types.UID
	made     int      // the record that accepted the deletion
	lost     bool     // the dependent lost the reference
	again    bool     // and was given it once more, by an adopter (ADOPT-7)
	strength Strength // what its deletion would be: Committed where nobody who brought it about could know
}

// promises are those of all orphaning deletions, by dependent.
type promises struct {
	byObject map[types.UID][]promise
}

// find returns what an owner's deletion owes an object, nil for nothing.
func (p *promises) find(object, owner types.UID) *promise {
	list := p.byObject[object]
	for i := range list {
		if list[i].owner == owner {
			return &list[i]
		}
	}
	return nil
}

func (p *promises) fold(s *stored, r *sim.Record, w *Write) {
	if w.Before == nil {
		return
	}
	was, is := meta.Orphaning(w.Before), meta.Orphaning(w.After)
	switch {
	case is && !was:
		p.make(s, w.Before.GetUID(), r.Index)
	case was && !is:
		p.ownerDone(s, r, w)
	}
	if len(p.byObject) > 0 {
		p.foldDependent(r, w)
	}
	if w.GC && w.After != nil {
		p.orphaned(s, r, w)
	}
}

// orphaned notes that the collector took off a reference which a dependent was
// given only after the deletion of its owner had been accepted: what it orphaned it
// has orphaned.
func (p *promises) orphaned(s *stored, r *sim.Record, w *Write) {
	uid := w.Before.GetUID()
	for _, ref := range w.Before.GetOwnerReferences() {
		o := s.Object(ref.UID)
		if o == nil || !meta.Orphaning(o.Meta) || meta.RefTo(w.After, ref.UID) != nil || p.find(uid, ref.UID) != nil {
			continue
		}
		p.byObject[uid] = append(p.byObject[uid], promise{owner: ref.UID, made: r.Index, lost: true})
	}
}

func (p *promises) make(s *stored, owner types.UID, record int) {
	for _, o := range s.Dependents(owner) {
		uid := o.Meta.GetUID()
		if p.find(uid, owner) == nil && s.reaches(meta.RefTo(o.Meta, owner), o.Meta.GetNamespace()) {
			p.byObject[uid] = append(p.byObject[uid], promise{owner: owner, made: record})
		}
	}
}

// ownerDone is called when an owner's orphan finalizer goes. What still refers
// to the owner then was forgotten: knowingly where the collector had seen it.
// Somebody else who takes the finalizer off takes the promise back.
func (p *promises) ownerDone(s *stored, r *sim.Record, w *Write) {
	owner := w.Before.GetUID()
	for _, o := range s.Dependents(owner) {
		uid := o.Meta.GetUID()
		q := p.find(uid, owner)
		switch {
		case q == nil:
		case !w.GC:
			p.drop(uid, owner)
		case w.process.sawBefore(r, o, owner) == nil:
			q.strength = Committed
		}
	}
}

func (p *promises) foldDependent(r *sim.Record, w *Write) {
	uid := w.Before.GetUID()
	list := p.byObject[uid]
	if len(list) == 0 {
		return
	}
	if w.After == nil {
		delete(p.byObject, uid)
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		q := &list[i]
		was, is := meta.RefTo(w.Before, q.owner), meta.RefTo(w.After, q.owner)
		had, has := was != nil, is != nil
		switch {
		case had && has && (was.Kind != is.Kind || was.Name != is.Name) && w.Actor == nil:
			p.drop(uid, q.owner) // it leads elsewhere now
		case had && !has:
			q.lost = true
		case has && !had && w.Actor != nil:
			q.again, q.lost, q.strength = q.again || q.lost, false, adoptionStrength(r, w)
		case has && !had:
			p.drop(uid, q.owner)
		}
	}
}

func (p *promises) drop(object, owner types.UID) {
	list := p.byObject[object]
	for i := range list {
		if list[i].owner == owner {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(p.byObject, object)
		return
	}
	p.byObject[object] = list
}
