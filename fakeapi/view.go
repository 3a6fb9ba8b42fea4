package fakeapi

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// entry is a stored entry with the object in this version.
func (k *Kind) entry(e *entry) *entry {
	obj := k.row.view.show(e.obj)
	return &entry{key: e.key, obj: obj, meta: metaOf(obj), rv: e.rv, lazy: e.lazy}
}

// stored is what of a call's object is stored, and its metadata.
func (c *call) stored(obj runtime.Object) runtime.Object {
	if c.k.stored == nil {
		return obj
	}
	c.kept = c.k.row.view.keep(obj)
	return c.kept
}

// current is the kind that answers requests for k: k itself, or, when the
// definition that k came from has changed since, what it defines now. It is
// nil when nothing does.
func (s *Server) current(k *Kind) *Kind {
	switch {
	case k == nil:
		return nil
	case k.ordinal < len(s.tables) && (s.tables[k.ordinal].kind == k || k.stored != nil && s.tables[k.ordinal].kind == k.stored):
		return k
	case k.custom != nil:
		return s.Kind(k.GVK)
	}
	return nil
}

// doOther executes a request for a kind that is not the kind of a table.
func (s *Server) doOther(now time.Time, req *Request) (Response, []Event) {
	k := s.current(req.Kind)
	if k == nil {
		return refuse(s.errNotServed(req)), nil
	}
	own := *req
	own.Kind = k
	c := &call{s: s, req: &own, k: k, now: now}
	if k.stored == nil {
		return c.run()
	}
	switch req.Verb {
	case Get, List, Delete, DeleteCollection:
		c.k = k.stored
	}
	r, events := c.run()
	if c.kept != nil && r.Object != nil && r.Object.GetObjectKind().GroupVersionKind() == k.GVK {
		r.Object = c.kept
	}
	r.Object = k.shown(r.Object)
	for i := range r.Items {
		r.Items[i] = k.shown(r.Items[i])
	}
	return r, events
}

// Next returns what happened since the last call, nil when nothing did. After
// an ERROR event the watch is over and Next returns nil.
func (w *Watch) Next() []watch.Event {
	events := w.next()
	if w.as == nil {
		return events
	}
	shown := make([]watch.Event, len(events))
	for i, ev := range events {
		shown[i] = watch.Event{Type: ev.Type, Object: w.as.shown(ev.Object)}
	}
	return shown
}
