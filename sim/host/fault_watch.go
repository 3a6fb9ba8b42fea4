package host

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
)

// relist breaks a watch. The process then lists again, and does not get the events in between.
var relist = onWatch("relist", (*Process).Relist, func(i *informer) bool {
	return i.synced && i.pending() > 1 && len(i.backlog) == 0
}, engine.gaps)

// resync delivers every cached object again, unchanged. A whole program has its own resyncs, so it does not get this
// fault.
var resync = onWatch("resync", (*Process).Resync, func(i *informer) bool {
	return i.process.synced && i.synced && i.pending() == 0 && i.cache.items.Len() > 0
}, func(engine) []*fakeapi.Kind { return nil })

// onWatch returns a fault that affects one watch of a process. Two functions select the watches for which the fault
// makes a difference: differs for a reconciler, kinds for a whole program.
func onWatch(name string, hit func(*Process, *fakeapi.Kind) bool, differs func(*informer) bool,
	kinds func(engine) []*fakeapi.Kind) *fault {
	return &fault{
		name: name,
		strikes: func(p *Process) bool {
			if p.engine != nil {
				return len(kinds(p.engine)) > 0
			}
			return slices.ContainsFunc(p.order, differs)
		},
		strike: func(p *Process) {
			w := p.cluster.world
			if p.engine != nil {
				of := kinds(p.engine)
				hit(p, of[w.Pick(len(of), name)])
				return
			}
			hit(p, pick(w, p.order, differs, name).kind)
		},
	}
}

// Hold pauses a process's watch of one kind, so that its events wait. It reports whether the process watches the kind.
func (p *Process) Hold(kind *fakeapi.Kind) bool { return p.setHeld(kind, true, "hold") }

// Release resumes a watch, so that the waiting events can be delivered.
func (p *Process) Release(kind *fakeapi.Kind) bool { return p.setHeld(kind, false, "release") }

func (p *Process) setHeld(kind *fakeapi.Kind, held bool, verb string) bool {
	i := p.informers[kind]
	switch {
	case i != nil:
		i.held = held
		i.notice()
	case p.engine == nil || !p.engine.hold(kind, held):
		return false
	}
	p.cluster.factOn(p, verb, kind.GVK.Kind, kind.GVK.Kind)
	return true
}

// Relist makes the process's watch of a kind fail with 410 Gone. The process lists again, and does not get the events
// in between. Relist returns false if the process does not watch the kind, or is down.
func (p *Process) Relist(kind *fakeapi.Kind) bool {
	i := p.informers[kind]
	switch {
	case p.Down || i == nil && p.engine == nil || p.engine != nil && !p.engine.relist(kind):
		return false
	case p.engine != nil:
	case i.synced:
		i.relist()
	}
	p.cluster.factOn(p, "relist", kind.GVK.Kind, kind.GVK.Kind)
	return true
}

// Resync delivers every cached object of a kind again, unchanged. It returns false if the process is down, or has no
// filled cache of the kind.
func (p *Process) Resync(kind *fakeapi.Kind) bool {
	i := p.informers[kind]
	if i == nil || p.Down || !i.synced {
		return false
	}
	i.resync()
	p.cluster.factOn(p, "resync", kind.GVK.Kind, kind.GVK.Kind)
	return true
}
