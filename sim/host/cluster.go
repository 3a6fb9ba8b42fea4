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
	order     []*kindState // the states in the order in which their kinds became known
	processes []*Process
	failures  []*FailedRequest

	running   *worker  // the worker that runs now
	cause     int      // index of the record that caused the current event; -1 for none
	syncs     uint64   // number of reconciles so far
	noted     []change // the change of each revision, in order
	compacted uint64   // the server has forgotten all revisions up to this one
	scratch   []byte
	free      *btree.FreeListG[*version] // free nodes for the B-trees of caches
	closing   []func()
}

// NewCluster returns a cluster without processes. The objects that the server contains are the initial state.
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

// state returns the kindState of a kind, and creates it for a new kind. All API versions of a kind share one kindState.
func (c *Cluster) state(k *fakeapi.Kind) *kindState {
	if s := c.states[k]; s != nil {
		return s
	}
	if stored := k.Stored(); stored != k {
		s := c.state(stored)
		c.states[k] = s
		return s
	}
	// after a change of its CRD, a kind has a new [fakeapi.Kind], but the same objects
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

// Stop ends all processes and their goroutines. The cluster and its history can still be read.
func (c *Cluster) Stop() {
	for _, p := range c.processes {
		for _, w := range p.workers {
			if w.concurrentSync != nil {
				w.concurrentSync.program.Kill()
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

// AtStop registers a function that is called once when the cluster stops, for example to end a hosted program.
func (c *Cluster) AtStop(f func()) { c.closing = append(c.closing, f) }

// World returns the cluster's world.
func (c *Cluster) World() *sim.World { return c.world }

// Server returns the cluster's API server.
func (c *Cluster) Server() *fakeapi.Server { return c.server }

// Processes returns the processes in the order of their start.
func (c *Cluster) Processes() []*Process { return c.processes }

// Process finds a process by name. It returns nil if there is none.
func (c *Cluster) Process(name string) *Process {
	for _, p := range c.processes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// As executes a request of a user or a third party at once, as a separate step.
func (c *Cluster) As(who string, req *fakeapi.Request) (resp fakeapi.Response) {
	c.world.Do(who+" "+string(req.Verb), func() { resp = c.Request(who, req) })
	return resp
}

// Request executes a request like As, but within the current step.
func (c *Cluster) Request(who string, req *fakeapi.Request) fakeapi.Response {
	if req.UserAgent == "" {
		req.UserAgent = who
	}
	return c.request(req, &sim.Record{Process: who, Cause: -1}, nil)
}

// AsFailing answers a request of a user or a third party with the error in told. If commits is set, the server executes
// the request first. If the server refuses it, AsFailing returns the refusal instead of told.
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

func (c *Cluster) digest(h *sim.Hash) {
	for _, s := range c.order {
		h.Word(s.exact)
	}
	for _, f := range c.failures {
		h.Word(uint64(f.seen))
	}
}

// AbstractHash returns a digest of the stored objects, the caches and the pending work. It leaves out names, UIDs,
// versions and times, because these differ between two rounds of a fight. If a hash recurs and an object was written in
// between, the processes may repeat their writes without end (NOFIGHT-1).
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

// kind returns the [fakeapi.Kind] that processes use for gvk. It panics if the server does not serve gvk. After a CRD
// is changed or deleted, processes continue to use the Kind that they used first.
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

// met returns the Kind that processes use for k: the first one if the CRD has changed. For an unknown kind, it is k.
func (c *Cluster) met(k *fakeapi.Kind) *fakeapi.Kind {
	if s := c.states[k]; s != nil {
		return s.kind
	}
	return k
}

// custom returns the kindState of an earlier Kind that has the same CRD as k, or nil.
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
