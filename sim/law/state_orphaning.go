package law

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// orphaning is the duty of an accepted orphaning deletion to one dependent: to remove its reference, and never to
// delete it because of that owner.
type orphaning struct {
	owner    types.UID
	record   int      // the record that accepted the deletion
	lost     bool     // the reference was removed
	again    bool     // and an adopter added it again (ADOPT-7)
	strength Strength // of the violation if it is deleted: Committed if its cause could not be known
}

// orphanings holds these duties by dependent.
type orphanings struct {
	byObject map[types.UID][]orphaning
}

// find returns the duty of an owner's deletion to an object, or nil.
func (p *orphanings) find(object, owner types.UID) *orphaning {
	list := p.byObject[object]
	for i := range list {
		if list[i].owner == owner {
			return &list[i]
		}
	}
	return nil
}

func (p *orphanings) fold(s *stored, r *sim.Record, w *Write) {
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

// orphaned notes that the collector removed a reference that was added after the owner's deletion had been
// accepted.
func (p *orphanings) orphaned(s *stored, r *sim.Record, w *Write) {
	uid := w.Before.GetUID()
	for _, ref := range w.Before.GetOwnerReferences() {
		o := s.Object(ref.UID)
		if o == nil || !meta.Orphaning(o.Meta) || meta.RefTo(w.After, ref.UID) != nil || p.find(uid, ref.UID) != nil {
			continue
		}
		p.byObject[uid] = append(p.byObject[uid], orphaning{owner: ref.UID, record: r.Index, lost: true})
	}
}

func (p *orphanings) make(s *stored, owner types.UID, record int) {
	for _, o := range s.Dependents(owner) {
		uid := o.Meta.GetUID()
		if p.find(uid, owner) == nil && s.reaches(meta.RefTo(o.Meta, owner), o.Meta.GetNamespace()) {
			p.byObject[uid] = append(p.byObject[uid], orphaning{owner: owner, record: record})
		}
	}
}

// ownerDone handles the removal of an owner's orphan finalizer. Dependents that still refer to the owner were
// missed, and knowingly if the collector had seen them. If somebody else removes the finalizer, the duty ends.
func (p *orphanings) ownerDone(s *stored, r *sim.Record, w *Write) {
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

func (p *orphanings) foldDependent(r *sim.Record, w *Write) {
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
			p.drop(uid, q.owner) // it refers to another owner now
		case had && !has:
			q.lost = true
		case has && !had && w.Actor != nil:
			q.again, q.lost, q.strength = q.again || q.lost, false, adoptionStrength(r, w)
		case has && !had:
			p.drop(uid, q.owner)
		}
	}
}

func (p *orphanings) drop(object, owner types.UID) {
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
