package host

import "github.com/threelaws/threelaws/sim"

// crash is a process that dies with a request pending or its answer under way,
// and comes back.
var crash = &fault{name: "crash", strikes: (*Process).isAtWork, strike: func(p *Process) { p.Crash(true) }}

// mostStale is how many writes ago the lists of a lagging server may be from.
const mostStale = 4

// stale is a crash after which the process comes back to lists from a lagging
// server.
var stale = &fault{
	name:    "stale",
	strikes: (*Process).isAtWork,
	strike: func(p *Process) {
		p.Crash(true)
		c := p.cluster
		back := 1 + uint64(c.world.Pick(mostStale, "how stale"))
		p.from = max(c.server.Version()-min(back, c.server.Version()-1), 1)
	},
	digest: func(c *Cluster, h *sim.Hash) { c.digestLast(mostStale, h) },
}

// isAtWork reports whether a process is asking something, and not only filling its caches: it has done nothing
// then that a crash could interrupt, and a manager of controller-runtime that is stopped then spins for ever.
func (p *Process) isAtWork() bool {
	_, _, ok := p.Asking()
	return ok && (p.engine == nil || !p.engine.filling())
}
