package host

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// behind is how many deliveries the process's cache of a kind is behind a resource
// version: see [Env]. A sync that asks learns something, which is folded like what
// it reads from the cache itself.
func (p *Process) behind(gvk schema.GroupVersionKind, resourceVersion string) int {
	i := p.informers[p.cluster.kind(gvk)]
	revision, err := strconv.ParseUint(resourceVersion, 10, 64)
	if i == nil || err != nil {
		return 0
	}
	n := i.behind(revision)
	if w := p.cluster.running; w != nil && w.process == p {
		w.local.Word(uint64(n))
	}
	return n
}

// behind counts the deliveries after which the cache is as new as a revision.
func (i *informer) behind(revision uint64) int {
	switch {
	case i.synced && i.cache.rv >= revision:
		return 0
	case i.synced && i.relisted >= revision:
		return len(i.backlog)
	case !i.synced && i.from == 0:
		return 1
	case !i.synced:
		return 1 + upTo(i.process.cluster.since(i.state, i.from), revision)
	}
	return len(i.backlog) + upTo(i.stream.waiting(), revision)
}

// upTo is how many of the changes lead to the first that is as new as a revision.
func upTo(changes []change, revision uint64) int {
	for n := range changes {
		if changes[n].version >= revision {
			return n + 1
		}
	}
	return len(changes)
}
