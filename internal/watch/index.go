package watch

// store makes a version the current one.
func (c *Cluster) store(e *entry, o *Version) {
	c.drop(e)
	e.now = o
	o.lighten(true)
	c.byUID[o.UID] = e
	for _, r := range o.OwnerReferences {
		if c.dependents[r.UID] == nil {
			c.dependents[r.UID] = map[*entry]bool{}
		}
		c.dependents[r.UID][e] = true
	}
	if o.selector != nil {
		if c.claimers[o.Namespace] == nil {
			c.claimers[o.Namespace] = map[*entry]bool{}
		}
		c.claimers[o.Namespace][e] = true
	}
	if o.of.claimable() && len(o.OwnerReferences) == 0 {
		c.strays[e] = true
	}
	if o.body == nil {
		return
	}
	e.body = c.bodies.PushFront(e)
	c.bytes += len(o.body)
	for c.bytes > mostBodies && c.bodies.Len() > 1 {
		last := c.bodies.Back().Value.(*entry)
		c.drop(last)
		last.now.body = nil
	}
}

// drop subtracts the body of an entry from the total.
func (c *Cluster) drop(e *entry) {
	if e.body != nil {
		c.bodies.Remove(e.body)
		c.bytes -= len(e.now.body)
		e.body = nil
	}
}

// unindex removes an entry from the indexes.
func (c *Cluster) unindex(e *entry) {
	o := e.now
	delete(c.byUID, o.UID)
	for _, r := range o.OwnerReferences {
		if delete(c.dependents[r.UID], e); len(c.dependents[r.UID]) == 0 {
			delete(c.dependents, r.UID)
		}
	}
	if o.selector != nil {
		if delete(c.claimers[o.Namespace], e); len(c.claimers[o.Namespace]) == 0 {
			delete(c.claimers, o.Namespace)
		}
	}
	delete(c.strays, e)
}
