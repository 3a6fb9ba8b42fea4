package host

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// caller is a thread of a process that sends a request: a worker, or a goroutine of a program or of a reconcile.
type caller interface {
	// sign sets the process and the cause of a record.
	sign(r *sim.Record)
	// sawObject returns the version of an object that the thread has probably read, or nil.
	sawObject(k *fakeapi.Kind, namespace, name string) any
	// told records the object that the thread receives in a response.
	told(k *fakeapi.Kind, m metav1.Object)
	// toldAll records the objects of a list that the thread receives.
	toldAll(k *fakeapi.Kind, items []runtime.Object)
}

// Fail makes requests fail from now on, as f says.
func (c *Cluster) Fail(f FailedRequest) { c.failures = append(c.failures, &f) }

// fault returns the first failure that applies to a pending request, or nil. Each matching failure counts the request.
func (c *Cluster) fault(process string, req *fakeapi.Request) *FailedRequest {
	var hit *FailedRequest
	for _, f := range c.failures {
		if !f.matches(process, req) {
			continue
		}
		f.seen++
		if hit == nil && (f.Nth == 0 || f.seen == f.Nth) {
			hit = f
		}
	}
	return hit
}

// serve executes a pending request. If f is not nil, the answer is the error of f, and the request is executed only if
// f.Commits is set. If the server refuses the executed request, the answer is the refusal.
func (c *Cluster) serve(by caller, req *fakeapi.Request, f *FailedRequest) fakeapi.Response {
	var t sim.Record
	by.sign(&t)
	switch {
	case f == nil:
		return c.request(req, &t, by)
	case f.Commits:
		t.Lost = true
		if resp := c.request(req, &t, by); resp.Err != nil {
			return resp
		}
		return f.response(req)
	default:
		resp := f.response(req)
		c.refused(req, resp, &t, by)
		return resp
	}
}

// request makes the server execute a request, and records the result. by is nil for a client that is not a process.
func (c *Cluster) request(req *fakeapi.Request, t *sim.Record, by caller) fakeapi.Response {
	resp, events := c.server.Do(c.world.Clock.Now(), req)
	for i := range events {
		c.committed(req, &events[i], t, by)
	}
	switch {
	case resp.Err != nil:
		c.refused(req, resp, t, by)
	case len(events) == 0:
		c.answered(req, resp, t)
	}
	if by != nil && resp.Err == nil {
		if m, ok := resp.Object.(metav1.Object); ok {
			by.told(c.met(req.Kind), m)
		}
		if req.Verb == fakeapi.List {
			by.toldAll(c.met(req.Kind), resp.Items)
		}
	}
	return resp
}

// committed records one change of a request, and sends it to watches.
func (c *Cluster) committed(req *fakeapi.Request, e *fakeapi.Event, t *sim.Record, by caller) {
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
	if by != nil {
		r.Saw = by.sawObject(s.kind, r.Object.Namespace, r.Object.Name)
	}
	if e.Kind.GVK.GroupKind() != req.Kind.GVK.GroupKind() {
		follows(&r)
	}
	c.note(s, e, c.world.Record(r).Index)
	if e.Kind.GVK.Kind == "CustomResourceDefinition" {
		for _, k := range c.server.Kinds() {
			c.state(k) // register a new kind before it has objects
		}
	}
}

// follows turns r into the record of a change that the server itself makes, because the request was about another kind.
// For example, the server updates the status of a quota, or deletes objects together with their CRD.
func follows(r *sim.Record) {
	*r = sim.Record{Op: sim.Commit, Process: apiserver, Verb: string(fakeapi.Update),
		Cause: r.Cause, Object: r.Object, Version: r.Version, Before: r.Before, After: r.After}
	switch {
	case r.After == nil:
		r.Verb = string(fakeapi.Delete)
	case r.Object.Kind == "ResourceQuota" || r.Object.Kind == "PodDisruptionBudget":
		r.Subresource = "status"
	}
}

func (c *Cluster) refused(req *fakeapi.Request, resp fakeapi.Response, t *sim.Record, by caller) {
	r := *t
	r.Op, r.Verb, r.Subresource = sim.Refusal, string(req.Verb), req.Subresource
	r.Object = sim.Ref{Namespace: req.Namespace, Name: req.Name}
	if req.Kind != nil {
		r.Object.Kind = req.Kind.GVK.Kind
	}
	st := resp.Err.ErrStatus
	if st.Reason == metav1.StatusReasonAlreadyExists && st.Details != nil {
		r.Object.Name = st.Details.Name // the URL of a create contains no name, but the error does
	}
	r.Code, r.Reason, r.Message = int(st.Code), string(st.Reason), st.Message
	r.Guards = guards(req)
	if by != nil && req.Name != "" {
		r.Saw = by.sawObject(c.met(req.Kind), req.Namespace, req.Name)
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
		if v := c.state(req.Kind).current(m.GetNamespace(), m.GetName()); req.Subresource == "scale" && v != nil {
			r.After = v.obj // a Scale is derived from the stored object
		}
	}
	c.world.Record(r)
}

func guards(req *fakeapi.Request) sim.Guards {
	uid, version := req.Preconditions()
	return sim.Guards{UID: uid != "", ResourceVersion: version != "", Applies: req.PatchType == types.ApplyPatchType}
}

// fact records an event of a process that is not a request, such as a crash or a change of era.
func (c *Cluster) fact(p *Process, verb, detail string) { c.factOn(p, verb, "", detail) }

// factOn is like fact, for an event that concerns one kind, such as a paused watch.
func (c *Cluster) factOn(p *Process, verb, kind, detail string) {
	r := sim.Record{Op: sim.FaultHit, Cause: -1, Verb: verb, Object: sim.Ref{Kind: kind}, Reason: detail}
	p.stamp(&r)
	c.world.Record(r)
}

func writes(req *fakeapi.Request) bool { return req.Verb != fakeapi.Get && req.Verb != fakeapi.List }

// linger moves the clock by the time that a write of a slow process takes. Timers that become due fire in later steps.
// linger has no effect if the clock would pass its horizon.
func (p *Process) linger(req *fakeapi.Request) {
	clock := &p.cluster.world.Clock
	if p.slowWrites == 0 || !writes(req) {
		return
	}
	p.slowWrites--
	if to := clock.Elapsed() + p.slow; clock.Horizon == 0 || to <= clock.Horizon {
		clock.Reach(to)
	}
}
