package fakeapi

import "net/http"

func (c *call) createSubresource() Response { return refuse(errNoSubresource()) }

func (c *call) updateSubresource() Response { return refuse(errNoSubresource()) }

func (c *call) patchSubresource() Response { return refuse(errNoSubresource()) }

// getSubresource reads a subresource: most are the object itself.
func (c *call) getSubresource() Response {
	if c.k.way(c.req.Subresource) == nil {
		return refuse(errNoSubresource())
	}
	e := c.s.tables[c.k.ordinal].get(c.k.key(c.req.Namespace, c.req.Name))
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	return Response{Object: e.obj, Code: http.StatusOK}
}
