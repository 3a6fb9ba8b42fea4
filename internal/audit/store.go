package audit

import (
	"container/list"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// How much of the cluster is kept, so that a log of any length takes the same memory:
// so many objects, and of their bodies so many bytes. Those that were written longest ago
// go first, and are met anew when they are written again.
const (
	mostObjects = 100_000
	mostBodies  = 48 << 20
)

// entry is one object that is there, as far as it is known.
type entry struct {
	place place
	now   *Object // its latest version, nil where that is not known any more
	kind  string
	late  bool // what is known of it may be out of date: a line was lost since

	epoch    int       // how many lines were lost when it was written
	maker    *Actor    // who made it, nil where that was before the log
	since    time.Time // when it got the controller that it has; zero where that was before the log
	constant bool      // it has had that since it was made
	lines    []line    // what became of it lately

	specBy, statusBy []*Actor // who wrote which half of it, the first few of them
	use, bodies      *list.Element
}

// ref is the object as records name it.
func (n *entry) ref() sim.Ref {
	r := sim.Ref{Kind: n.kind, Namespace: n.place.namespace, Name: n.place.name}
	if n.now != nil {
		r.UID = string(n.now.UID)
	}
	return r
}

// store is what is known of the cluster.
type store struct {
	objects map[place]*entry
	uses    *list.List // of *entry, those used last in front
	bodies  *list.List // of *entry that have bodies
	bytes   int
	epoch   int                  // how many lines were lost
	kinds   map[[2]string]string // the kind of a group and resource
}

func newStore() *store {
	return &store{objects: map[place]*entry{}, uses: list.New(), bodies: list.New(), kinds: map[[2]string]string{}}
}

// at is the object at a place, nil for none that is known.
func (s *store) at(p place) *entry { return s.objects[p] }

// current reports whether what is known of an object is all there is to know.
func (s *store) current(n *entry) bool {
	return n != nil && n.now != nil && !n.late && n.epoch == s.epoch
}

// kindOf is the kind of the objects of a resource, "" where none was met.
func (s *store) kindOf(p place, o *Object) string {
	key := [2]string{p.group, p.resource}
	if o != nil && !o.partial && o.kind != "" {
		if s.kinds[key] == "" {
			s.kinds[key] = o.kind
		}
		return o.kind
	}
	return s.kinds[key]
}

// put makes a version the latest of a place. It returns the entries that had to go for it.
func (s *store) put(p place, kind string, o *Object) (n *entry, gone []*entry) {
	n = s.objects[p]
	if n == nil {
		n = &entry{place: p}
		n.use = s.uses.PushFront(n)
		s.objects[p] = n
	} else {
		s.uses.MoveToFront(n.use)
	}
	s.weigh(n, -1)
	n.kind, n.now, n.late, n.epoch = kind, o, false, s.epoch
	s.weigh(n, 1)
	for len(s.objects) > mostObjects {
		last := s.uses.Back().Value.(*entry)
		s.remove(last)
		gone = append(gone, last)
	}
	for s.bytes > mostBodies && s.bodies.Len() > 1 {
		last := s.bodies.Back().Value.(*entry)
		s.weigh(last, -1)
		last.now = last.now.light()
	}
	return n, gone
}

// weigh counts the body of an entry, in or out.
func (s *store) weigh(n *entry, sign int) {
	if n.now == nil || n.now.spec == nil {
		return
	}
	s.bytes += sign * (len(n.now.spec) + len(n.now.status))
	if sign > 0 {
		n.bodies = s.bodies.PushFront(n)
	} else if n.bodies != nil {
		s.bodies.Remove(n.bodies)
		n.bodies = nil
	}
}

// light is an object without its body.
func (o *Object) light() *Object {
	c := *o
	c.spec, c.status = nil, nil
	return &c
}

// remove forgets an object.
func (s *store) remove(n *entry) {
	s.weigh(n, -1)
	s.uses.Remove(n.use)
	delete(s.objects, n.place)
}

// doubt marks all that is known as possibly out of date: a write was lost, and nobody
// knows of what.
func (s *store) doubt() {
	s.epoch++
}

// lookedAt is when an actor last read an object, or the list that it is in.
type lookedAt map[place]time.Time

const mostLooks = 1 << 12

func (l lookedAt) note(p place, at time.Time) {
	if len(l) >= mostLooks {
		clear(l)
	}
	l[p] = at
}

// since reports whether an object was looked at after a time.
func (l lookedAt) since(p place, t time.Time) bool {
	all := place{group: p.group, resource: p.resource, namespace: p.namespace}
	every := place{group: p.group, resource: p.resource}
	for _, where := range []place{p, all, every} {
		if at, ok := l[where]; ok && at.After(t) {
			return true
		}
	}
	return false
}
