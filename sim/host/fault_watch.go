package host

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
)

// relist is a watch that breaks: the process lists again, missing what happened
// in between.
var relist = onWatch("relist", (*Process).Relist, func(i *informer) bool {
	return i.synced && i.pending() > 1 && len(i.backlog) == 0
}, func(s *Stream) bool { return s.pending() > 1 })

// resync is every cached object delivered again, unchanged. A whole program does that by
// itself, or not.
var resync = onWatch("resync", (*Process).Resync, func(i *informer) bool {
	return i.process.synced && i.synced && i.pending() == 0 && i.cache.items.Len() > 0
}, func(*Stream) bool { return false })

// onWatch is a fault that hits one of a process's watches to which it makes a
// difference.
func onWatch(name string, hit func(*Process, *fakeapi.Kind) bool, differs func(*informer) bool,
	streams func(*Stream) bool) *fault {
	return &fault{
		name: name,
		strikes: func(p *Process) bool {
			return slices.ContainsFunc(p.order, differs) || slices.ContainsFunc(p.streams(), streams)
		},
		strike: func(p *Process) {
			if p.guest != nil {
				hit(p, pick(p.cluster.world, p.streams(), streams, name).Kind)
				return
			}
			hit(p, pick(p.cluster.world, p.order, differs, name).kind)
		},
	}
}

// streams are the open watches of a process that runs a whole program.
func (p *Process) streams() []*Stream {
	if p.guest == nil {
		return nil
	}
	return p.guest.streams
}

// Hold freezes a process's view of one kind: events of it wait. It reports
// whether the process watches the kind.
func (p *Process) Hold(kind *fakeapi.Kind) bool { return p.setHeld(kind, true, "hold") }

// Release lets the events that waited be delivered.
func (p *Process) Release(kind *fakeapi.Kind) bool { return p.setHeld(kind, false, "release") }

func (p *Process) setHeld(kind *fakeapi.Kind, held bool, verb string) bool {
	i := p.informers[kind]
	switch {
	case i != nil:
		i.held = held
	case p.guest != nil && (!held || p.guest.watches(kind)):
		p.guest.held[kind] = held
	default:
		return false
	}
	p.cluster.factOn(p, verb, kind.GVK.Kind, kind.GVK.Kind)
	return true
}

// Relist makes the process's watch of a kind fail with 410 Gone: it lists again
// and never sees the events in between. It reports whether it watches the kind.
func (p *Process) Relist(kind *fakeapi.Kind) bool {
	i := p.informers[kind]
	switch {
	case p.Down || i == nil && p.guest == nil:
		return false
	case p.guest != nil:
		if !p.guest.relist(kind) {
			return false
		}
	case i.synced:
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
