// Package audit reads the audit log of a real cluster (audit.k8s.io/v1) and checks it against the laws of package
// sim/law.
//
// A [Source] delivers the events of all files in order of time. An [Auditor] orders the writes by resource version, and
// derives each object before and after a write. It finds the actor of a write (actor.go) and the rules for this actor
// (roles.go), and passes the write to a [law.Judge]. It finds fights itself (fight.go), because a log does
// not contain the state of a whole world. A [Report] lists the findings, the actors, and the writes not judged.
//
// # No false positives
//
// A log contains less than the history of a simulated world. It may begin at any time. Writes or their bodies may be
// missing. It does not show what a writer had read. So writes are not judged if any of these facts is uncertain:
//
//   - The state before a write is taken from the log only if no other write can be missing: the request contains the
//     version, or is a patch that does not change the owners.
//   - Only two rules apply to an unknown actor. It must not take, edit or delete objects of another known controller.
//     If others could adopt an object that it creates, it must set a ControllerRef.
//   - Writes by people and by system components (nodes, the scheduler, the garbage collector) are never violations.
package audit

import (
	"container/list"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// These constants limit the memory: the number of known objects, and the bytes of their specs and statuses. The object
// that was written longest ago is dropped first. Its next write adds it again.
const (
	mostObjects = 100_000
	mostBodies  = 48 << 20
)

// entry is one known object.
type entry struct {
	place place
	now   *Object // the object's latest version; nil if no longer known
	kind  string
	late  bool // now may be outdated: the log lacks the result of a later write

	epoch    int       // store.epoch when now was stored
	maker    *Actor    // the object's creator; nil if the creation is not in the log
	since    time.Time // when the object got its current controller; zero if unknown, or before the log
	constant bool      // the object has had this controller since its creation
	lines    []line    // the object's first change and last few changes

	specBy, statusBy []*Actor // the first few writers of the status (statusBy) and of everything else (specBy)
	use, bodies      *list.Element
}

func (n *entry) ref() sim.Ref {
	r := sim.Ref{Kind: n.kind, Namespace: n.place.namespace, Name: n.place.name}
	if n.now != nil {
		r.UID = string(n.now.UID)
	}
	return r
}

// store is the known state of the cluster.
type store struct {
	objects map[place]*entry
	uses    *list.List // *entry values, most recently used first
	bodies  *list.List // *entry values that have bodies, last written first
	bytes   int
	epoch   int                  // the number of lost writes whose object is not known
	kinds   map[[2]string]string // group and resource -> kind
}

func newStore() *store {
	return &store{objects: map[place]*entry{}, uses: list.New(), bodies: list.New(), kinds: map[[2]string]string{}}
}

func (s *store) at(p place) *entry { return s.objects[p] }

// current reports whether an object is known, and the log cannot lack a later write to it.
func (s *store) current(n *entry) bool {
	return n != nil && n.now != nil && !n.late && n.epoch == s.epoch
}

// kindOf returns the kind of a resource's objects, or "" if it is unknown. It learns the kind from o.
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

// put stores the latest version of an object. gone lists the entries that put evicted to limit the memory.
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

// weigh adds the size of an entry's body to the total of the store (sign 1), or subtracts it (sign -1).
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

func (o *Object) light() *Object {
	c := *o
	c.spec, c.status = nil, nil
	return &c
}

func (s *store) remove(n *entry) {
	s.weigh(n, -1)
	s.uses.Remove(n.use)
	delete(s.objects, n.place)
}

// doubt marks all objects as possibly outdated, because the log lacks a write and its object.
func (s *store) doubt() {
	s.epoch++
}

// lookedAt contains the time when an actor last read an object or a list of objects.
type lookedAt map[place]time.Time

const mostLooks = 1 << 12

func (l lookedAt) note(p place, at time.Time) {
	if len(l) >= mostLooks {
		clear(l)
	}
	l[p] = at
}

// since reports whether the actor has read an object, or a list that contains it, after a time.
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
