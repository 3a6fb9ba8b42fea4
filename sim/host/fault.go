package host

import (
	"bytes"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Fault makes a process's requests fail: the nth one that matches.
type Fault struct {
	Process string       // "" for every process
	Verb    fakeapi.Verb // "" for every verb
	Kind    string       // "" for every kind
	Nth     int          // from 1; 0 means every one
	Code    int          // 409, 429, 500 or 504
	Commits bool         // the request is executed all the same; only its answer is lost
	seen    int
}

// Fail adds a failure.
func (c *Cluster) Fail(f Fault) { c.failures = append(c.failures, &f) }

// fault returns the failure that hits a worker's pending request, nil for none.
func (c *Cluster) fault(w *worker) *Fault {
	var hit *Fault
	for _, f := range c.failures {
		if f.Process != "" && f.Process != w.process.Name || f.Verb != "" && f.Verb != w.req.Verb || f.Kind != "" && f.Kind != w.req.Kind.GVK.Kind {
			continue
		}
		f.seen++
		if hit == nil && (f.Nth == 0 || f.seen == f.Nth) {
			hit = f
		}
	}
	return hit
}

// response is what the process is told instead.
func (f *Fault) response(req *fakeapi.Request) fakeapi.Response {
	gr := req.Kind.GVR().GroupResource()
	var err *apierrors.StatusError
	switch f.Code {
	case 409:
		err = apierrors.NewConflict(gr, req.Name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	case 429:
		err = apierrors.NewTooManyRequests("the server has received too many requests and has asked us to try again later", 1)
	case 504:
		err = apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	default:
		err = apierrors.NewInternalError(fmt.Errorf("etcdserver: request timed out"))
	}
	return fakeapi.Response{Code: int(err.ErrStatus.Code), Err: err}
}

// Hold freezes a process's view of one kind: events of it wait. It reports
// whether the process watches the kind.
func (p *Process) Hold(kind *fakeapi.Kind) bool { return p.setHeld(kind, true, "hold") }

// Release lets the events that waited be delivered.
func (p *Process) Release(kind *fakeapi.Kind) bool { return p.setHeld(kind, false, "release") }

func (p *Process) setHeld(kind *fakeapi.Kind, held bool, verb string) bool {
	i := p.informers[kind]
	if i == nil {
		return false
	}
	i.held = held
	p.cluster.factOn(p, verb, kind.GVK.Kind, kind.GVK.Kind)
	return true
}

// Watches lists the kinds the process watches.
func (p *Process) Watches() []*fakeapi.Kind {
	out := make([]*fakeapi.Kind, 0, len(p.order))
	for _, i := range p.order {
		out = append(out, i.kind)
	}
	return out
}

// Crash kills the process where it stands. A pending request is never executed;
// of an executed one the response is lost. With comeBack the process is offered
// its restart as an action, otherwise it stays down until [Process.Restart].
func (p *Process) Crash(comeBack bool) {
	if p.Down {
		return
	}
	detail := ""
	for _, w := range p.workers {
		switch w.state {
		case asking:
			detail = "before " + string(w.req.Verb) + " " + w.req.Name
		case answered:
			detail = "after " + string(w.req.Verb) + " " + w.req.Name
		}
		w.stop()
		w.state = idle
	}
	p.Down, p.restarts = true, comeBack
	p.cluster.world.Clock.StopAll(p.Name)
	p.cluster.fact(p, "crash", detail)
}

// Restart starts a new incarnation of a process, crashing it first if it runs.
// Its initial lists are read at the given revision, 0 for the latest: an older
// one is what a lagging API server answers.
func (p *Process) Restart(from uint64) {
	p.Crash(false)
	p.Incarnation++
	p.from = from
	p.start()
	p.from = 0
	detail := ""
	if from != 0 {
		detail = fmt.Sprintf("from %d writes ago", p.cluster.server.Version()-from)
	}
	p.cluster.fact(p, "restart", detail)
}

// Switch replaces the process's program by another generation: an upgrade or a
// downgrade.
func (p *Process) Switch(ctl Controller) {
	p.Crash(false)
	p.controller = ctl
	p.Incarnation++
	p.start()
	p.cluster.fact(p, "switch", ctl.Generation)
}

// Relist makes the process's watch of a kind fail with 410 Gone: it lists again
// and never sees the events in between. It reports whether it watches the kind.
func (p *Process) Relist(kind *fakeapi.Kind) bool {
	i := p.informers[kind]
	if i == nil || p.Down {
		return false
	}
	if i.synced {
		i.relist()
	}
	p.cluster.factOn(p, "relist", kind.GVK.Kind, kind.GVK.Kind)
	return true
}

// Resync delivers every cached object of a kind again, unchanged.
func (p *Process) Resync(kind *fakeapi.Kind) bool {
	i := p.informers[kind]
	if i == nil || p.Down || !i.synced {
		return false
	}
	i.resync()
	p.cluster.factOn(p, "resync", kind.GVK.Kind, kind.GVK.Kind)
	return true
}

// Waiting lists the keys for which a process sleeps on an expectation.
func (p *Process) Waiting() []string {
	if w, ok := p.reconciler.(Waiter); ok && !p.Down {
		return w.Waiting()
	}
	return nil
}

// Asking returns the verb, kind and name of the request a worker of the process
// waits to have executed (answered false) or answered (answered true).
func (p *Process) Asking() (req *fakeapi.Request, isAnswered, ok bool) {
	for _, w := range p.workers {
		if w.state != idle && w.req != nil {
			return w.req, w.state == answered, true
		}
	}
	return nil, false, false
}

// Holding reports whether the process's view of some kind is frozen.
func (p *Process) Holding() bool {
	return slices.ContainsFunc(p.order, func(i *informer) bool { return i.held })
}

// Withheld reports whether events wait for a held view of the process.
func (p *Process) Withheld() bool {
	for _, i := range p.order {
		if i.held && i.pending() > 0 {
			return true
		}
	}
	return false
}

// Settled records that the world is quiet, and who waits for ever.
func (c *Cluster) Settled() {
	c.world.Do("settled", func() {
		for _, p := range c.processes {
			if p.Withheld() {
				continue // what it waits for may be among the events kept from it
			}
			for _, key := range p.Waiting() {
				r := sim.Record{Op: sim.Stuck, Cause: -1, Process: p.Name, Generation: p.Generation, Incarnation: p.Incarnation, Verb: "wait"}
				r.For, _ = p.ownerOf(key)
				r.Object = r.For
				r.Message = "an expectation that nothing in flight can fulfil"
				c.world.Record(r)
			}
		}
		c.world.Record(sim.Record{Op: sim.Settled, Cause: -1, Verb: "settle"})
	})
}

func metaOf(obj runtime.Object) metav1.Object { return obj.(metav1.Object) }

func patchNames(patch []byte, field string) bool { return bytes.Contains(patch, []byte(field)) }
