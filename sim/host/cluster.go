package host

import (
	"fmt"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Cluster is an API server and the processes that run against it, in one world.
type Cluster struct {
	world     *sim.World
	server    *fakeapi.Server
	states    map[*fakeapi.Kind]*kindState
	order     []*kindState // the same, in the order of the table of kinds
	processes []*Process
	failures  []*FailedRequest

	running   *worker // the worker that has the processor
	cause     int     // the record that what happens now follows from; -1 for none
	syncs     uint64
	began     uint64   // the server's revision when the cluster began
	noted     []change // what is known of each revision since, in order, but for those that the server was told to forget
	compacted uint64   // ... up to this one
	scratch   []byte
	free      *btree.FreeListG[*version] // nodes of the caches' trees
}

// NewCluster joins a server to a world. What the server holds already is the
// initial state.
func NewCluster(w *sim.World, s *fakeapi.Server) *Cluster {
	c := &Cluster{world: w, server: s, states: map[*fakeapi.Kind]*kindState{}, cause: -1, began: s.Version(), free: btree.NewFreeListG[*version](32)}
	for _, k := range s.Kinds() {
		c.state(k)
	}
	w.Digests = append(w.Digests, c.digest)
	return c
}

// state returns what is known of a kind; a kind that was defined since the
// cluster began is taken up.
func (c *Cluster) state(k *fakeapi.Kind) *kindState {
	if s := c.states[k]; s != nil {
		return s
	}
	// A definition that changes makes the kind anew; its objects stay what they are.
	if old := c.custom(k.GVK); old != nil {
		c.states[k] = old
		return old
	}
	c.scratch = append(append(append(append(append(c.scratch[:0], k.GVK.Group...), '/'), k.GVK.Version...), ", Kind="...), k.GVK.Kind...)
	s := &kindState{kind: k, salt: sim.HashBytes(c.scratch), latest: map[string]*version{}}
	c.states[k] = s
	c.order = append(c.order, s)
	c.server.Each(k, func(obj runtime.Object) bool {
		s.commit(keyOf(obj.(metav1.Object)), obj)
		return true
	})
	return s
}

// Stop ends the coroutines of all processes: no goroutine is left of them. The
// history stays; nothing may be done with the cluster afterwards but to look at
// it. It is idempotent.
func (c *Cluster) Stop() {
	for _, p := range c.processes {
		for _, w := range p.workers {
			w.stop()
		}
		p.workers, p.Down, p.restarts = nil, true, false
		c.world.Clock.StopAll(p.Name)
	}
}

// World, Server and Processes are the cluster's parts.
func (c *Cluster) World() *sim.World       { return c.world }
func (c *Cluster) Server() *fakeapi.Server { return c.server }
func (c *Cluster) Processes() []*Process   { return c.processes }

// Process finds a process by name; nil when there is none.
func (c *Cluster) Process(name string) *Process {
	for _, p := range c.processes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// As executes one request at once, as a step of its own, on behalf of somebody
// who is not a process: the user, a third party.
func (c *Cluster) As(who string, req *fakeapi.Request) (resp fakeapi.Response) {
	c.world.Do(who+" "+string(req.Verb), func() { resp = c.Request(who, req) })
	return resp
}

// Request is As inside a step that is under way: what a user does there.
func (c *Cluster) Request(who string, req *fakeapi.Request) fakeapi.Response {
	if req.UserAgent == "" {
		req.UserAgent = who
	}
	return c.request(req, &sim.Record{Process: who, Cause: -1}, nil)
}

// serve executes a worker's pending request, or fails it as a fault says.
func (c *Cluster) serve(w *worker) fakeapi.Response {
	return c.serveFailing(w, c.fault(w))
}

// serveFailing executes a worker's pending request under a failure, nil for none.
func (c *Cluster) serveFailing(w *worker, f *FailedRequest) fakeapi.Response {
	t := sim.Record{Cause: w.start, Asked: w.asked}
	w.stamp(&t)
	switch {
	case f == nil:
		return c.request(w.req, &t, w)
	case f.Commits:
		t.Lost = true
		if resp := c.request(w.req, &t, w); resp.Err != nil {
			return resp
		}
		return f.response(w.req)
	default:
		resp := f.response(w.req)
		c.refused(w.req, resp, &t, w)
		return resp
	}
}

// request has the server execute a request and records what came of it.
func (c *Cluster) request(req *fakeapi.Request, t *sim.Record, w *worker) fakeapi.Response {
	resp, events := c.server.Do(c.world.Clock.Now(), req)
	switch {
	case resp.Err != nil:
		c.refused(req, resp, t, w)
	case len(events) > 0:
		for i := range events {
			c.committed(req, &events[i], t, w)
		}
	default:
		c.answered(req, resp, t)
	}
	if w != nil && resp.Err == nil {
		if m, ok := resp.Object.(metav1.Object); ok {
			w.live = append(w.live, liveRead{kind: c.met(req.Kind), meta: m})
		}
	}
	return resp
}

// committed records one change and notes it.
func (c *Cluster) committed(req *fakeapi.Request, e *fakeapi.Event, t *sim.Record, w *worker) {
	r, s := *t, c.state(e.Kind)
	r.Op, r.Verb, r.Subresource, r.Version = sim.Commit, string(req.Verb), req.Subresource, e.Version
	m := e.After
	if m == nil {
		m = e.Before
	}
	r.Object = refOf(e.Kind, m.(metav1.Object))
	if e.Before != nil {
		r.Before = e.Before
	}
	if e.After != nil {
		r.After = e.After
	}
	r.Guards = guards(req)
	if w != nil {
		r.Saw = w.sawObject(s.kind, r.Object.Namespace, r.Object.Name)
	}
	c.note(s, e, c.world.Record(r).Index)
	if e.Kind.GVK.Kind == "CustomResourceDefinition" {
		for _, k := range c.server.Kinds() {
			c.state(k) // what it defines is known before there is an object of it
		}
	}
}

func (c *Cluster) refused(req *fakeapi.Request, resp fakeapi.Response, t *sim.Record, w *worker) {
	r := *t
	r.Op, r.Verb, r.Subresource = sim.Refusal, string(req.Verb), req.Subresource
	r.Object = sim.Ref{Namespace: req.Namespace, Name: req.Name}
	if req.Kind != nil {
		r.Object.Kind = req.Kind.GVK.Kind
	}
	st := resp.Err.ErrStatus
	r.Code, r.Reason, r.Message = int(st.Code), string(st.Reason), st.Message
	r.Guards = guards(req)
	if w != nil && req.Name != "" {
		r.Saw = w.sawObject(c.met(req.Kind), req.Namespace, req.Name)
	}
	c.world.Record(r)
}

func (c *Cluster) answered(req *fakeapi.Request, resp fakeapi.Response, t *sim.Record) {
	r := *t
	r.Op, r.Verb, r.Subresource = sim.Read, string(req.Verb), req.Subresource
	r.Object = sim.Ref{Kind: req.Kind.GVK.Kind, Namespace: req.Namespace, Name: req.Name}
	if m, ok := resp.Object.(metav1.Object); ok {
		r.Object = refOf(req.Kind, m)
		r.After = resp.Object
	}
	c.world.Record(r)
}

// guards says which preconditions a write carries.
func guards(req *fakeapi.Request) sim.Guards {
	uid, version := req.Preconditions()
	return sim.Guards{UID: uid != "", ResourceVersion: version != "", Applies: req.PatchType == types.ApplyPatchType}
}

// fact records a fault, a hold or a change of generation.
func (c *Cluster) fact(p *Process, verb, detail string) { c.factOn(p, verb, "", detail) }

// factOn is fact about a process and one kind.
func (c *Cluster) factOn(p *Process, verb, kind, detail string) {
	r := sim.Record{Op: sim.FaultHit, Cause: -1, Verb: verb, Object: sim.Ref{Kind: kind}, Reason: detail, Process: "faults"}
	if p != nil {
		r.Process, r.Generation, r.Incarnation = p.Name, p.Generation, p.Incarnation
	}
	c.world.Record(r)
}

// digest folds the server's contents.
func (c *Cluster) digest(h *sim.Hash) {
	for _, s := range c.order {
		h.Word(s.exact)
	}
	for _, f := range c.failures {
		h.Word(uint64(f.seen))
	}
}

// AbstractHash digests the world with names, uids, versions and times left out
// where they differ between two rounds of a fight: contents, views, what is in
// flight. When it recurs with a write in between, the world can go round for
// ever (NOFIGHT-1).
func (c *Cluster) AbstractHash() uint64 {
	var h sim.Hash
	for _, s := range c.order {
		h.Word(s.abstract)
	}
	for _, p := range c.processes {
		p.digestAbstract(&h)
	}
	return uint64(h)
}

// Kind finds a kind by its GroupVersionKind and panics when the server does not
// have it: controllers are started against servers that do.
func (c *Cluster) kind(gvk schema.GroupVersionKind) *fakeapi.Kind {
	k := c.server.Kind(gvk)
	if k != nil {
		if definition, _ := k.Definition(); definition == nil {
			return k
		}
	}
	if s := c.custom(gvk); s != nil {
		return s.kind
	}
	if k == nil {
		text := fmt.Sprintf("kind %s of %s is not served", gvk.Kind, gvk.GroupVersion())
		if n := c.server.NearestKind(gvk.Kind); n != "" {
			text += "; did you mean " + n + "?"
		} else {
			text += ": create its CustomResourceDefinition before"
		}
		panic(Misuse(text))
	}
	return k
}

// met is a kind as processes watch it.
func (c *Cluster) met(k *fakeapi.Kind) *fakeapi.Kind {
	if s := c.states[k]; s != nil {
		return s.kind
	}
	return k
}

// custom is what is known of a kind that some definition defines, or defined:
// processes go on to watch it under the kind that they met first. It is nil
// when nobody met it.
func (c *Cluster) custom(gvk schema.GroupVersionKind) *kindState {
	for _, s := range c.order {
		if s.kind.GVK == gvk {
			if definition, _ := s.kind.Definition(); definition != nil {
				return s
			}
		}
	}
	return nil
}
