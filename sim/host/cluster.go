package host

import (
	"fmt"
	"slices"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	noted     []change // what is known of each revision since the cluster began, in order
	compacted uint64   // the server was told to forget revisions up to this one
	scratch   []byte
	free      *btree.FreeListG[*version] // nodes of the caches' trees
	closing   []func()
}

// NewCluster joins a server to a world. What the server holds already is the
// initial state.
func NewCluster(w *sim.World, s *fakeapi.Server) *Cluster {
	c := &Cluster{
		world: w, server: s, states: map[*fakeapi.Kind]*kindState{}, cause: -1,
		free: btree.NewFreeListG[*version](32),
	}
	for _, k := range s.Kinds() {
		c.state(k)
	}
	w.Digests = append(w.Digests, c.digest)
	return c
}

// state returns what is known of a kind, in whichever version; a kind that was defined
// since the cluster began is taken up.
func (c *Cluster) state(k *fakeapi.Kind) *kindState {
	if s := c.states[k]; s != nil {
		return s
	}
	if stored := k.Stored(); stored != k {
		s := c.state(stored)
		c.states[k] = s
		return s
	}
	// A definition that changes makes the kind anew; its objects stay what they are.
	if old := c.custom(k); old != nil {
		c.states[k] = old
		return old
	}
	c.scratch = append(append(append(c.scratch[:0], k.GVK.Group...), '/'), k.GVK.Version...)
	c.scratch = append(append(c.scratch, ", Kind="...), k.GVK.Kind...)
	s := &kindState{
		kind: k, salt: sim.HashBytes(c.scratch), met: c.server.Version(), latest: map[string]*version{},
	}
	c.states[k] = s
	c.order = append(c.order, s)
	c.server.Each(k, func(obj runtime.Object) bool {
		s.commitVersion(keyOf(obj.(metav1.Object)), obj, standing.version)
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
			if w.crew != nil {
				w.crew.program.Kill()
			}
			w.stop()
		}
		if p.engine != nil && !p.Down {
			p.engine.kill()
		}
		p.workers, p.Down, p.restarts, p.touched = nil, true, false, true
		c.world.Clock.StopAll(p.Name)
	}
	for _, f := range c.closing {
		f()
	}
	c.closing = nil
}

// AtStop has a function called once when the cluster stops: where programs ran is
// cleared up then.
func (c *Cluster) AtStop(f func()) { c.closing = append(c.closing, f) }

// World is the world that the cluster is in.
func (c *Cluster) World() *sim.World { return c.world }

// Server is its API server.
func (c *Cluster) Server() *fakeapi.Server { return c.server }

// Processes are its processes, in the order in which they were started.
func (c *Cluster) Processes() []*Process { return c.processes }

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

// AsFailing is As of a request that is answered with told in place of the server's own answer: at
// once, or, where commits says so, when it has been executed and the server has not refused it.
func (c *Cluster) AsFailing(who string, req *fakeapi.Request, told fakeapi.Response, commits bool) (
	resp fakeapi.Response) {
	if req.UserAgent == "" {
		req.UserAgent = who
	}
	c.world.Do(who+" "+string(req.Verb), func() {
		t := sim.Record{Process: who, Cause: -1, Lost: commits}
		if commits {
			if resp = c.request(req, &t, nil); resp.Err != nil {
				return
			}
		} else {
			c.refused(req, told, &t, nil)
		}
		resp = told
	})
	return resp
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

// Kind finds what is watched of a kind, by its GroupVersionKind, and panics when the
// server does not have it: controllers are started against servers that do. Processes
// go on to watch a kind that some definition defines, or defined, as they met it first.
func (c *Cluster) kind(gvk schema.GroupVersionKind) *fakeapi.Kind {
	if k := c.server.Kind(gvk); k != nil {
		return c.state(k).kind
	}
	for _, s := range slices.Backward(c.order) {
		if definition, _ := s.kind.Definition(); definition != nil && s.kind.GVK == gvk {
			return s.kind
		}
	}
	text := fmt.Sprintf("kind %s of %s is not served", gvk.Kind, gvk.GroupVersion())
	if n := c.server.NearestKind(gvk.Kind); n != "" {
		text += "; did you mean " + n + "?"
	} else {
		text += ": create its CustomResourceDefinition before"
	}
	panic(Misuse(text))
}

// met is a kind as processes watch it.
func (c *Cluster) met(k *fakeapi.Kind) *fakeapi.Kind {
	if s := c.states[k]; s != nil {
		return s.kind
	}
	return k
}

// custom is what is known of a kind by an earlier state of its definition, whatever
// version was stored then. It is nil when nobody met it.
func (c *Cluster) custom(k *fakeapi.Kind) *kindState {
	definition, _ := k.Definition()
	if definition == nil {
		return nil
	}
	for _, s := range c.order {
		if s.kind.GVK.Kind != k.GVK.Kind {
			continue
		}
		if was, _ := s.kind.Definition(); was != nil && was.Name == definition.Name {
			return s
		}
	}
	return nil
}
