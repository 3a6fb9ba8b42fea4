package host

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// The state of a reconcile is its position in its code and its variables. The host cannot read them, but they follow
// from the inputs: the key, the versions read from caches, the controller's memory, the time, and the responses. So a
// reconcile's digest contains its inputs and its pending request. A turn of a reconcile begins with its start or a
// response, and ends with its next request or its end. During a turn, only this reconcile changes the memory, and its
// changes follow from the inputs. So the digest includes the memory once per turn, at the beginning.

// resumeSync starts a reconcile, or continues it with a response.
func (w *worker) resumeSync() {
	w.listen()
	if w.process.concurrent() {
		w.startConcurrent()
		return
	}
	w.run()
}

// listen adds the time and the controller's memory to a reconcile's digest at the start of a turn (see World.Compared).
func (w *worker) listen() {
	if p := w.process; p.cluster.world.Compared() {
		w.local.Word(uint64(p.cluster.world.Clock.Elapsed())) // the reconcile may read the clock
		p.digestMemory(&w.local)
		p.memory.Word(uint64(w.local))
	}
}

// digestMemory adds the reconciler's own digest or, without one, the digest of everything that the process received.
func (p *Process) digestMemory(h *sim.Hash) {
	switch d := p.reconciler.(type) {
	case sim.Digester:
		d.Digest(h)
	case Stateless: // has no memory
	default:
		h.Word(uint64(p.memory))
	}
}

func (w *worker) fold() { w.process.cluster.fold(w.req, &w.resp, &w.local, &w.abstract) }

func (c *Cluster) fold(req *fakeapi.Request, resp *fakeapi.Response, local, abstract *sim.Hash) {
	local.Word(uint64(resp.Code))
	abstract.Word(uint64(resp.Code))
	if resp.Err != nil {
		local.String(string(resp.Err.ErrStatus.Reason))
		local.String(resp.Err.ErrStatus.Message)
		return
	}
	if m, ok := resp.Object.(metav1.Object); ok {
		c.state(req.Kind).foldObject(m, local, abstract)
	}
	local.Word(uint64(len(resp.Items)))
	for _, o := range resp.Items {
		c.state(req.Kind).foldObject(o.(metav1.Object), local, abstract)
	}
}

func (s *kindState) foldObject(m metav1.Object, local, abstract *sim.Hash) {
	if v := s.current(m.GetNamespace(), m.GetName()); v != nil {
		local.Word(v.exact)
		abstract.Word(v.abstract)
	}
}

func (w *worker) foldRead(digest uint64) {
	if w.concurrentSync != nil {
		w.concurrentSync.read += sim.Mix(digest)
		return
	}
	w.local.Word(digest)
}

func (w *worker) foldRequest() {
	c := w.process.cluster
	if !c.world.Compared() {
		return
	}
	r, h := w.req, &w.local
	for _, s := range []string{string(r.Verb), r.Subresource, r.Namespace, r.Name, string(r.PatchType), r.UserAgent} {
		h.String(s)
	}
	h.Word(c.state(r.Kind).salt)
	if r.Object != nil {
		v := newVersion(0, "", 0, r.Object)
		h.Word(v.exact)
	}
	h.Word(patchDigest(r))
	h.Word(optionsDigest(r))
}

// noteRead records that the running reconcile reads a cached version.
func (w *worker) noteRead(v *version) {
	w.foldRead(v.exact)
	w.abstract += sim.Hash(sim.Mix(v.abstract))
	if v.sync != w.sync {
		v.sync = w.sync
		w.reads = append(w.reads, v)
	}
}

// noteRead records that the running reconcile reads the cache. v is nil when the read begins.
func (i *informer) noteRead(v *version) {
	w := i.process.cluster.running
	if w == nil || w.process != i.process {
		return
	}
	for len(i.readBy) <= w.id {
		i.readBy = append(i.readBy, readMark{})
	}
	i.readBy[w.id] = readMark{sync: w.sync, seq: i.seq}
	if v == nil {
		w.foldRead(i.state.salt)
	} else {
		w.noteRead(v)
	}
}

// noteNamed records that a read returned keys without their objects.
func (i *informer) noteNamed(keys []string) {
	w := i.process.cluster.running
	if w == nil || w.process != i.process || !w.process.cluster.world.Compared() {
		return
	}
	var h sim.Hash
	for _, k := range keys {
		h.String(k)
	}
	h.Word(uint64(len(keys)))
	w.foldRead(uint64(h))
}

func (i *informer) digest(h *sim.Hash) {
	h.Word(i.cache.exact)
	h.Bool(i.synced)
	h.Bool(i.held)
	if i.cache.asked {
		h.Word(i.cache.rv)
		h.Word(i.relisted)
	}
	for j := range i.backlog {
		i.backlog[j].digest(h)
	}
	if i.relisted > i.cache.rv { // Env.Behind also counts the changes that the relist skipped
		h.Word(uint64(len(i.process.cluster.since(i.state, i.cache.rv))))
	}
	if !i.synced {
		h.Word(i.from)
		if i.from != 0 {
			i.process.cluster.digestKindBefore(i.state, i.from, h)
		}
		return
	}
	waiting := i.stream.waiting()
	for j := range waiting {
		waiting[j].digest(h)
	}
}
