package host

import "github.com/threelaws/threelaws/sim"

// crash kills a process with a request pending or its answer under way, and restarts it.
var crash = &fault{name: "crash", strikes: (*Process).isAtWork, strike: func(p *Process) { p.Crash(true) }}

// mostStale is how many writes old the lists of a lagging server may be.
const mostStale = 4

// stale is a crash after which the process restarts from lists of a lagging server.
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

// isAtWork reports whether a process has a request under way and does more than fill its caches. Until then a
// crash could interrupt nothing, and a stopped manager of controller-runtime would spin for ever.
func (p *Process) isAtWork() bool {
	_, _, ok := p.Asking()
	return ok && (p.engine == nil || !p.engine.filling())
}
