package fakeapi

import (
	"net/http"
	"time"
)

// Do executes one request at the given time. It returns one event for each change, in order. Even a create that fails
// because its name is in use may be charged to quotas.
func (s *Server) Do(now time.Time, req *Request) (Response, []Event) {
	if k := req.Kind; k == nil || k.ordinal >= len(s.tables) || s.tables[k.ordinal].kind != k {
		return s.doOther(now, req)
	}
	if req.Verb == Get && req.Subresource == "" && req.List.ResourceVersion == "" {
		if e := s.lookup(s.tables[req.Kind.ordinal], req.Namespace, req.Name); e != nil && !e.away() {
			return Response{Object: e.obj, Code: http.StatusOK}, nil
		}
	}
	c := &call{s: s, req: req, k: req.Kind, now: now}
	return c.run()
}

// doOther executes a request for a version that is not stored, or with a Kind that is nil or outdated.
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
		if c.k = k.stored; own.Subresource == "scale" && k.custom != nil {
			c.k = k
		}
		if err := k.selectStored(&own.List); err != nil {
			return refuse(err), nil
		}
	}
	r, events := c.run()
	return c.present(k, r), events
}

func (c *call) run() (Response, []Event) {
	if c.s.tables[c.k.ordinal].away {
		if err := c.settle(); err != nil {
			return refuse(err), nil
		}
	}
	switch c.req.Verb {
	case Get:
		if c.req.Subresource != "" {
			return c.getSubresource(), nil
		}
		return c.get(), nil
	case List:
		return c.list(), nil
	}
	r := c.write()
	if len(c.events) > 0 {
		c.follow()
	}
	if len(c.warnings) > 0 {
		r.Warnings = append(c.warnings, r.Warnings...)
	}
	return r, c.events
}

func (c *call) write() Response {
	switch c.req.Verb {
	case Create:
		if c.req.Subresource != "" {
			return c.createSubresource()
		}
		return c.create()
	case Update, Patch:
		w := c.k.row.Way(c.req.Subresource)
		switch {
		case w == nil:
			return c.updateSubresource()
		case c.req.Verb == Update:
			return c.update(w)
		}
		return c.patch(w)
	case Delete:
		return c.delete()
	case DeleteCollection:
		return c.deleteCollection()
	}
	return refuse(errMethod(c.req))
}
