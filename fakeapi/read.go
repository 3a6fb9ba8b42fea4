package fakeapi

import "net/http"

func (c *call) get() Response {
	if rv := c.req.List.ResourceVersion; rv != "" {
		if asked, err := parseWatchVersion(rv); err != nil {
			return refuse(err)
		} else if asked > c.s.version {
			return refuse(errTooLarge(asked, c.s.version))
		}
	}
	e := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	return Response{Object: e.obj, Code: http.StatusOK}
}

func (c *call) list() Response {
	if err := validateListOptions(&c.req.List); err != nil {
		return refuse(err)
	}
	sel, err := c.req.Kind.selects().selectors(&c.req.List)
	if err != nil {
		return refuse(err)
	}
	return c.listSelected(sel)
}
