package host

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Watches lists the kinds that the process watches.
func (p *Process) Watches() []*fakeapi.Kind {
	if p.engine != nil {
		return p.engine.watched()
	}
	out := make([]*fakeapi.Kind, 0, len(p.order))
	for _, i := range p.order {
		out = append(out, i.kind)
	}
	return out
}

// WatchedIn lists the namespaces in which a whole program watches a kind: "" for all namespaces. For a reconciler it
// returns nil.
func (p *Process) WatchedIn(k *fakeapi.Kind) (namespaces []string) {
	g, is := p.engine.(*hosted)
	if !is {
		return nil
	}
	for _, s := range g.streams {
		if namespace, _, _ := strings.Cut(s.scope, " "); s.Kind == k && !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
	}
	return namespaces
}

// Waiting lists the keys for which the reconciler waits for expectations; nil if the process is down.
func (p *Process) Waiting() []string {
	if w, ok := p.reconciler.(Waiter); ok && !p.Down {
		return w.Waiting()
	}
	return nil
}

// Holding reports whether some watch of the process is paused.
func (p *Process) Holding() bool {
	return slices.ContainsFunc(p.order, func(i *informer) bool { return i.held }) ||
		p.engine != nil && p.engine.holding()
}

// Withheld reports whether events wait for a paused watch of the process.
func (p *Process) Withheld() bool {
	return slices.ContainsFunc(p.order, func(i *informer) bool { return i.held && i.pending() > 0 }) ||
		p.engine != nil && p.engine.withheld()
}

// Relisting reports whether a watch of a whole program has ended, and the program has not listed the objects again.
func (p *Process) Relisting() bool {
	g, is := p.engine.(*hosted)
	return is && !p.Down && len(g.expired) > 0
}

// Starved reports whether a request of a whole program has waited since before the record with this index.
func (p *Process) Starved(record int) bool {
	g, is := p.engine.(*hosted)
	return is && slices.ContainsFunc(g.calls, func(c *Call) bool { return c.asked < record })
}

// Settled records that the world has settled, and which keys wait forever. It skips a process if its paused watch has
// waiting events. reason says why the world counts as settled although work remains; it is "" if none remains.
func (c *Cluster) Settled(reason string) {
	c.world.Do("settled", func() {
		for _, p := range c.processes {
			if p.Withheld() {
				continue // the keys may wait for events of the paused watch
			}
			for _, key := range p.Waiting() {
				r := sim.Record{Op: sim.Stuck, Cause: -1, Verb: "wait"}
				p.stamp(&r)
				r.For, _ = p.ownerOf(key)
				r.Object = r.For
				r.Message = "an expectation that nothing in flight can fulfil"
				c.world.Record(r)
			}
		}
		c.world.Record(sim.Record{Op: sim.Settled, Cause: -1, Verb: "settle", Reason: reason})
	})
}
