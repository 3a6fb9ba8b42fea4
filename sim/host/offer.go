package host

import (
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// actor is a process as the world sees it.
type actor struct{ p *Process }

// Name is the process's name.
func (a actor) Name() string { return a.p.Name }

const restart = "restart"

// Offer lists what the process can do next: have a response delivered, have a
// request executed, see the next event of a watch, take a key from its queue,
// come up again.
func (a actor) Offer(into []sim.Action) []sim.Action {
	p := a.p
	if p.Down {
		if p.restarts {
			into = append(into, sim.Action{Class: sim.Work, Actor: p.Name, Detail: restart})
		}
		return into
	}
	if p.engine != nil {
		return p.engine.offer(into)
	}
	free := -1
	for i, w := range p.workers {
		switch w.state {
		case answered:
			into = append(into, sim.Action{Class: sim.Respond, Actor: p.Name, Detail: w.label, Slot: i})
		case asking:
			into = append(into, sim.Action{Class: sim.Execute, Actor: p.Name, Detail: w.label, Slot: i})
		default:
			if free < 0 {
				free = i
			}
		}
	}
	for i, inf := range p.order {
		if !inf.held && inf.pending() > 0 {
			into = append(into, sim.Action{Class: sim.Deliver, Actor: p.Name, Detail: inf.kind.GVK.Kind, Slot: i})
		}
	}
	if free >= 0 && p.queue.Len() > 0 && (p.synced || p.controller.StartUnsynced) {
		into = append(into, sim.Action{Class: sim.Work, Actor: p.Name, Detail: p.workers[free].label, Slot: free})
	}
	return into
}

// Take performs one of the actions offered.
func (a actor) Take(x sim.Action) {
	p := a.p
	switch {
	case x.Class == sim.Work && x.Detail == restart:
		p.Restart(p.from)
	case p.engine != nil:
		p.engine.take(x)
	case x.Class == sim.Respond:
		p.workers[x.Slot].resumeSync()
	case x.Class == sim.Execute:
		p.workers[x.Slot].execute()
	case x.Class == sim.Deliver:
		p.order[x.Slot].deliver()
		p.noteSynced()
	case x.Class == sim.Work:
		p.workers[x.Slot].begin()
	default:
		panic("host: took " + x.Key() + ", which a process does not offer")
	}
}

// Asking returns the verb, kind and name of the request a worker of the process
// waits to have executed (answered false) or answered (answered true).
func (p *Process) Asking() (req *fakeapi.Request, isAnswered, ok bool) {
	for _, w := range p.workers {
		if w.state != idle && w.req != nil {
			return w.req, w.state == answered, true
		}
	}
	if p.engine != nil && !p.Down {
		return p.engine.asking()
	}
	return nil, false, false
}

// noteSynced finds out whether every informer has its initial list.
func (p *Process) noteSynced() {
	if p.synced {
		return
	}
	for _, i := range p.order {
		if !i.synced {
			return
		}
	}
	p.synced = true
	p.cluster.fact(p, "synced", "")
}

// Footprint says what an action touches. Everything a process does touches its
// private state; executing a request touches the server as well.
func (a actor) Footprint(x sim.Action) sim.Footprint {
	p := a.p
	f := sim.Footprint{Process: p.Name, Global: len(p.members) > 0} // it may start and stop others
	switch {
	case p.engine != nil:
		f.Global = true
	case x.Class == sim.Execute:
		req := p.workers[x.Slot].req
		f.Kind, f.Write = req.Kind.GVK.Kind, req.Verb != fakeapi.Get && req.Verb != fakeapi.List
		if req.Name != "" {
			f.Object = req.Namespace + "/" + req.Name
		}
		// A namespaced write depends on its namespace's phase, a deletion of a
		// namespace changes it.
		if req.Kind.GVK.Kind == "Namespace" && f.Write {
			f.Global = true
		}
	case x.Class == sim.Deliver:
		// A list reads the server; so does a watch that has nothing left after
		// this event, since a later write enables it again. The latter commutes.
		if i := p.order[x.Slot]; !i.synced {
			f.Kind = i.kind.GVK.Kind
		}
	case x.Detail == restart:
		f.Global = true
	}
	return f
}

// Digest folds the process's whole state.
func (a actor) Digest(h *sim.Hash) {
	p := a.p
	h.String(p.Name)
	h.String(p.Generation)
	h.Word(uint64(p.Incarnation))
	h.Bool(p.Down)
	if p.Down {
		h.Bool(p.restarts)
		h.Word(p.from)
		if p.from != 0 {
			p.cluster.digestBefore(p.from, h)
		}
		return
	}
	if p.engine != nil {
		p.engine.digestAbstract(h) // of what the program remembers nobody knows: see Undigested
		return
	}
	for _, i := range p.order {
		i.digest(h)
	}
	p.queue.digest(h)
	for _, w := range p.workers {
		h.Word(uint64(w.state))
		h.String(w.key)
		h.Word(uint64(w.local))
		if w.state == asking {
			h.Word(w.late)
		}
	}
	p.digestMemory(h)
}

// Undigested names a process that runs a whole program: states of its memory cannot be
// told apart.
func (a actor) Undigested() string {
	if a.p.IsProgram() {
		return "the program " + a.p.Name
	}
	return ""
}

// digestAbstract folds what matters to whether a fight goes round. What a
// controller remembers is left out: it follows from what it sees, or it is a
// bug of another kind.
func (p *Process) digestAbstract(h *sim.Hash) {
	h.Bool(p.Down)
	if p.Down {
		return // what it had seen is lost
	}
	if p.engine != nil {
		p.engine.digestAbstract(h)
		return
	}
	for _, i := range p.order {
		h.Word(i.cache.abstract)
		if !i.synced {
			continue
		}
		for j := range i.backlog {
			h.Word(i.backlog[j].abstract())
		}
		h.Word(i.stream.sum)
	}
	h.Word(uint64(p.queue.Len()))
	if !p.controller.For.Empty() {
		h.Word(p.queue.line.sum)
	}
	for _, w := range p.workers {
		h.Word(uint64(w.state))
		h.Word(uint64(w.abstract))
	}
}
