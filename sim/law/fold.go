package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// The process names that are nobody's subject but mean something to the laws.
const (
	User   = "user"      // whoever acts from outside the world
	Server = "apiserver" // in FaultHit records of its own downgrade and upgrade
)

// fold brings the state up to date with a record.
func (s *State) fold(r *sim.Record, p *Process, w *Write) {
	switch r.Op {
	case sim.Commit:
		s.promises.fold(s, r, w)
		s.taken.fold(s, r, w)
		s.store(r, w)
		if s.byProcess[r.Process] == nil { // the user, or whoever else acts from outside
			s.newEpoch()
		}
		for _, p := range s.processes {
			p.noteWrite(r, w)
		}
	case sim.FaultHit:
		s.foldFault(r)
	case sim.Delivery, sim.SyncStart, sim.SyncEnd, sim.Read, sim.Refusal:
		if p != nil {
			p.fold(s, r)
		}
	}
}

func (s *State) newEpoch() {
	s.epoch++
	s.restarted = false
}

func (s *State) foldFault(r *sim.Record) {
	switch r.Verb {
	case "switch", "downgrade", "upgrade":
		s.newEpoch()
	case "crash", "restart":
		s.restarted = true
	}
	if r.Process == Server {
		s.dropping = r.Verb == "downgrade"
	}
	if p := s.byProcess[r.Process]; p != nil {
		p.foldFault(r)
	}
}

func (s *State) store(r *sim.Record, w *Write) {
	if w.After == nil {
		if w.Before != nil {
			s.remove(w)
		}
		return
	}
	o := s.byUID[w.After.GetUID()]
	if o == nil {
		o = s.insert(r, w)
		s.index(o, nil, w.After.GetOwnerReferences())
	} else if w.Before != nil {
		s.index(o, o.Meta.GetOwnerReferences(), w.After.GetOwnerReferences())
	}
	o.Value, o.Meta = r.After, w.After
}

func (s *State) insert(r *sim.Record, w *Write) *Object {
	var o *Object
	if n := len(s.spare); n > 0 {
		o, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		o = &Object{}
	}
	o.Ref = sim.Ref{Kind: r.Object.Kind, Namespace: w.After.GetNamespace(), Name: w.After.GetName(), UID: string(w.After.GetUID())}
	o.maker = nil
	if w.Before == nil {
		o.maker = w.Process
	}
	l := s.list(o.Ref.Kind)
	o.slot = len(l.objects)
	l.objects = append(l.objects, o)
	s.byUID[w.After.GetUID()] = o
	s.byName[coords{o.Ref.Kind, o.Ref.Namespace, o.Ref.Name}] = o
	return o
}

func (s *State) list(kind string) *kindList {
	for _, l := range s.kinds {
		if l.kind == kind {
			return l
		}
	}
	l := &kindList{}
	if n := len(s.spareKs); n > 0 {
		l, s.spareKs = s.spareKs[n-1], s.spareKs[:n-1]
	}
	l.kind = kind
	s.kinds = append(s.kinds, l)
	return l
}

func (s *State) remove(w *Write) {
	uid := w.Before.GetUID()
	o := s.byUID[uid]
	if o == nil {
		return
	}
	s.index(o, o.Meta.GetOwnerReferences(), nil)
	delete(s.byUID, uid)
	if at := (coords{o.Ref.Kind, o.Ref.Namespace, o.Ref.Name}); s.byName[at] == o {
		delete(s.byName, at)
	}
	l := s.list(o.Ref.Kind)
	last := len(l.objects) - 1
	l.objects[o.slot] = l.objects[last]
	l.objects[o.slot].slot = o.slot
	l.objects[last] = nil
	l.objects = l.objects[:last]
	s.spare = append(s.spare, o)
}

// index moves an object from the owners of its old references to those of its
// new ones.
func (s *State) index(o *Object, old, now []metav1.OwnerReference) {
	if sameOwners(old, now) {
		return
	}
	for i := range old {
		if firstOf(old, i) {
			s.unindex(o, &old[i])
		}
	}
	for i := range now {
		if !firstOf(now, i) {
			continue
		}
		d := s.owned[now[i].UID]
		if d == nil {
			if n := len(s.spareDs); n > 0 {
				d, s.spareDs = s.spareDs[n-1], s.spareDs[:n-1]
			} else {
				d = &dependents{}
			}
			s.owned[now[i].UID] = d
		}
		d.objects = append(d.objects, o)
	}
}

func (s *State) unindex(o *Object, ref *metav1.OwnerReference) {
	d := s.owned[ref.UID]
	if d == nil {
		return
	}
	for i, x := range d.objects {
		if x == o {
			last := len(d.objects) - 1
			d.objects[i], d.objects[last] = d.objects[last], nil
			d.objects = d.objects[:last]
			break
		}
	}
	if len(d.objects) == 0 {
		delete(s.owned, ref.UID)
		s.spareDs = append(s.spareDs, d)
	}
}

func sameOwners(a, b []metav1.OwnerReference) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].UID != b[i].UID {
			return false
		}
	}
	return true
}

// firstOf reports whether no earlier reference names the same owner.
func firstOf(refs []metav1.OwnerReference, i int) bool {
	for k := range i {
		if refs[k].UID == refs[i].UID {
			return false
		}
	}
	return true
}
