package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Object is a stored object. The pointer is good until the object is removed.
type Object struct {
	Ref   sim.Ref
	Value any           // the stored version
	Meta  metav1.Object // the same
	slot  int           // in the list of its kind
	maker *Process      // who created it; nil for somebody who is no subject
}

type coords struct{ kind, namespace, name string }

type kindList struct {
	kind    string
	objects []*Object
}

// dependents are the objects with a reference to one owner, present or absent.
type dependents struct{ objects []*Object }

// Object returns the stored object with that uid, nil when there is none.
func (s *State) Object(uid types.UID) *Object { return s.byUID[uid] }

// Named returns the stored object of that name, nil when there is none.
func (s *State) Named(kind, namespace, name string) *Object {
	return s.byName[coords{kind, namespace, name}]
}

// Kind lists the stored objects of a kind, in an order that depends on the
// history only. The slice is the state's own.
func (s *State) Kind(kind string) []*Object {
	for _, l := range s.kinds {
		if l.kind == kind {
			return l.objects
		}
	}
	return nil
}

// Dependents lists the stored objects that have an owner reference with that
// uid, whether or not such an owner exists. The slice is the state's own.
func (s *State) Dependents(owner types.UID) []*Object {
	if d := s.owned[owner]; d != nil {
		return d.objects
	}
	return nil
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

// activeUpTo counts the stored active dependents that an owner controls. It need
// not go on once there are so many; -1 counts them all.
func (s *State) activeUpTo(sub *Subject, owner types.UID, enough int) int {
	n := 0
	for _, o := range s.Dependents(owner) {
		if n == enough {
			break
		}
		if s.isActiveOf(sub, owner, o) {
			n++
		}
	}
	return n
}

// isActiveOf reports whether an object is an active dependent that an owner controls.
func (s *State) isActiveOf(sub *Subject, owner types.UID, o *Object) bool {
	ref := controllerOf(o.Meta)
	return ref != nil && ref.UID == owner && sub.manages(o.Ref.Kind) && sub.active(o)
}

// firstIn is an object of a kind in a namespace, nil when there is none.
func (s *State) firstIn(kind, namespace string) *Object {
	for _, o := range s.Kind(kind) {
		if o.Ref.Namespace == namespace {
			return o
		}
	}
	return nil
}

// anyIn is any object in a namespace, nil when it is empty. Events do not count:
// nobody waits for them.
func (s *State) anyIn(namespace string) *Object {
	for _, l := range s.kinds {
		if l.kind == "Event" {
			continue
		}
		if o := s.firstIn(l.kind, namespace); o != nil {
			return o
		}
	}
	return nil
}
