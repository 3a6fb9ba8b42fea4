package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Object is a stored object. The pointer is valid until the object is removed.
type Object struct {
	Ref   sim.Ref
	Value any
	Meta  metav1.Object // the metadata of Value
	slot  int           // index in the list of the kind
	maker *Actor        // the actor that created the object; nil if no actor did
	loose bool          // a whole program created the object, and it has never had a ControllerRef
	bare  bareness
}

// bareness is set for an object that was created without a reference to the reconciled owner. It holds that owner, and
// the owner's generation at the creation.
type bareness struct {
	owner types.UID
	spec  int64
}

// stored holds the objects that exist according to the records, indexed by UID, name, kind and owner.
type stored struct {
	byUID  map[types.UID]*Object
	byName map[coords]*Object
	kinds  []*kindList
	owned  map[types.UID]*dependents

	spare   []*Object // freed structs, for reuse
	spareDs []*dependents
	spareKs []*kindList
}

type coords struct{ kind, namespace, name string }

type race struct{ object, owner types.UID }

func uidOf(r sim.Ref) types.UID { return types.UID(r.UID) }

type kindList struct {
	kind    string
	objects []*Object
}

// dependents holds the objects with a reference to one owner. The owner may be missing.
type dependents struct{ objects []*Object }

func newStored() stored {
	return stored{byUID: map[types.UID]*Object{}, byName: map[coords]*Object{}, owned: map[types.UID]*dependents{}}
}

func (s *stored) reset() {
	for _, l := range s.kinds {
		s.spare = append(s.spare, l.objects...)
		clear(l.objects)
		l.objects = l.objects[:0]
	}
	s.spareKs = append(s.spareKs, s.kinds...)
	s.kinds = s.kinds[:0]
	clear(s.byUID)
	clear(s.byName)
	clear(s.owned)
}

// Object returns the stored object with that UID, or nil.
func (s *stored) Object(uid types.UID) *Object { return s.byUID[uid] }

// Named returns the stored object of that name, or nil.
func (s *stored) Named(kind, namespace, name string) *Object {
	return s.byName[coords{kind, namespace, name}]
}

// Kind returns the stored objects of a kind, in an order that depends only on the history. The state owns the slice.
func (s *stored) Kind(kind string) []*Object {
	for _, l := range s.kinds {
		if l.kind == kind {
			return l.objects
		}
	}
	return nil
}

func (s *stored) each(yield func(o *Object) bool) {
	for _, l := range s.kinds {
		for _, o := range l.objects {
			if !yield(o) {
				return
			}
		}
	}
}

// Dependents returns the stored objects that have an owner reference with that UID, whether or not the owner
// exists. The state owns the slice.
func (s *stored) Dependents(owner types.UID) []*Object {
	if d := s.owned[owner]; d != nil {
		return d.objects
	}
	return nil
}

// put stores a change of an object. before is nil for a creation, and after is nil for a removal. maker is the actor
// that creates the object.
func (s *stored) put(kind string, value any, before, after metav1.Object, maker *Actor) {
	if after == nil {
		if before != nil {
			s.remove(before.GetUID())
		}
		return
	}
	o := s.byUID[after.GetUID()]
	if o == nil {
		o = s.insert(kind, after)
		if before == nil {
			o.maker, o.loose = maker, maker != nil && maker.Opaque
		}
		s.index(o, nil, after.GetOwnerReferences())
	} else if before != nil {
		s.index(o, o.Meta.GetOwnerReferences(), after.GetOwnerReferences())
	}
	o.Value, o.Meta, o.loose = value, after, o.loose && metav1.GetControllerOfNoCopy(after) == nil
}

func (s *stored) insert(kind string, m metav1.Object) *Object {
	var o *Object
	if n := len(s.spare); n > 0 {
		o, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		o = &Object{}
	}
	o.Ref = sim.Ref{Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: string(m.GetUID())}
	o.maker, o.loose, o.bare = nil, false, bareness{}
	l := s.list(kind)
	o.slot = len(l.objects)
	l.objects = append(l.objects, o)
	s.byUID[m.GetUID()] = o
	s.byName[coords{kind, o.Ref.Namespace, o.Ref.Name}] = o
	return o
}

func (s *stored) list(kind string) *kindList {
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

func (s *stored) remove(uid types.UID) {
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

// index moves an object from the lists of its old owners to the lists of its new owners.
func (s *stored) index(o *Object, old, now []metav1.OwnerReference) {
	if meta.SameOwners(old, now) {
		return
	}
	for i := range old {
		if meta.FirstOf(old, i) {
			s.unindex(o, &old[i])
		}
	}
	for i := range now {
		if !meta.FirstOf(now, i) {
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

func (s *stored) unindex(o *Object, ref *metav1.OwnerReference) {
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

// activeUpTo counts the active dependents that an owner controls. It stops at the number enough; -1 means no limit.
func (s *stored) activeUpTo(sub *Actor, owner types.UID, enough int) int {
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
func (s *stored) isActiveOf(sub *Actor, owner types.UID, o *Object) bool {
	return meta.ControlledBy(o.Meta, owner) && sub.manages(o.Ref.Kind) && sub.counts(o.Value, o.Meta)
}
