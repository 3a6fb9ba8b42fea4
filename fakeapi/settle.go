package fakeapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
)

// settle converts objects that were stored before their CRD changed: the request's object, or all.
func (c *call) settle() error {
	if c.req.Verb == Create && c.req.Name == "" {
		return nil
	}
	k, key := c.k.Stored(), ""
	if c.req.Name != "" {
		key = k.key(c.req.Namespace, c.req.Name)
	}
	err := c.s.settle(k, key)
	if err != nil && key == "" {
		return errUnlisted(c.req.Kind, err)
	}
	return err
}

// settle converts the unread objects of a kind: one key, or all. It stops at the first error.
func (s *Server) settle(k *Kind, key string) error {
	var away []*entry
	s.tables[k.ordinal].each("", func(e *entry) bool {
		if e.away() && (key == "" || e.key == key) {
			away = append(away, e)
		}
		return true
	})
	for _, e := range away {
		now, err := s.tables[k.ordinal].read(e, true)
		if err != nil {
			return err
		}
		t := s.writable(k)
		if s.find(t, e.key) == e { // who asked a webhook may find that others have been here
			t.objects.ReplaceOrInsert(now)
			t.foreign = true
		}
	}
	if key == "" {
		s.writable(k).away = false
	}
	return nil
}

// pending are stored objects that are being converted to the requested version.
type pending struct {
	k   *Kind
	ask conversion.Ask
}

func (s *Server) way(k *Kind) (*pending, error) {
	if !k.far() {
		return &pending{k, k.ask}, nil
	}
	ask, err := s.remote(k.custom.Definition)
	if err != nil {
		return nil, err
	}
	return &pending{k, ask(s.caller.Call)}, nil
}

// show converts one object; others stay as they are.
func (p *pending) show(obj runtime.Object) (runtime.Object, error) {
	if !p.k.otherVersion(obj) {
		return obj, nil
	}
	out, err := conversion.To(obj.(*unstructured.Unstructured), p.k.GVK.GroupVersion(), p.ask)
	if err != nil {
		return nil, err
	}
	return p.k.row.View.Show(out), nil
}

// present converts a response to the requested version.
func (c *call) present(k *Kind, r Response) Response {
	if c.kept != nil && r.Object != nil && r.Object.GetObjectKind().GroupVersionKind() == k.GVK {
		r.Object = c.kept
	}
	if t := c.s.tables[k.ordinal]; t.foreign {
		r.Object = c.s.source(t, r.Object)
		for i := range r.Items {
			r.Items[i] = c.s.source(t, r.Items[i])
		}
	}
	if !k.asks() {
		r.Object = k.shown(r.Object)
		for i := range r.Items {
			r.Items[i] = k.shown(r.Items[i])
		}
		return r
	}
	if r.Object == nil && len(r.Items) == 0 {
		return r
	}
	p, err := c.s.way(k)
	r.later = func(r *Response) {
		if err == nil {
			err = p.finish(r)
		}
		if err != nil {
			if c.req.Verb == List {
				err = errUnlisted(k, err)
			}
			no := refuse(err)
			no.Warnings, *r = r.Warnings, no
		}
	}
	if err != nil || !k.far() {
		r.Finish()
	}
	return r
}

// source returns the object that other versions are converted from.
func (s *Server) source(t *table, obj runtime.Object) runtime.Object {
	if m, ok := obj.(*unstructured.Unstructured); ok {
		if e := s.lookup(t, m.GetNamespace(), m.GetName()); e != nil && e.obj == obj {
			return e.source()
		}
	}
	return obj
}

func (p *pending) finish(r *Response) (err error) {
	if r.Object, err = p.show(r.Object); err != nil || len(r.Items) == 0 {
		return err
	}
	items := make([]runtime.Object, len(r.Items))
	for i := range items {
		if items[i], err = p.show(r.Items[i]); err != nil {
			return err
		}
	}
	r.Items = items
	return nil
}
