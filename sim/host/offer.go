package host

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// actor makes a process an actor of the world.
type actor struct{ p *Process }

func (a actor) Name() string { return a.p.Name }

const restart = "restart"

func (a actor) Offer(into []sim.Action) []sim.Action { return append(into, a.Offers()...) }

// Offers lists the actions of the process: deliver a response or an event, execute a request, take a key from the
// queue, or restart. The list is valid until the process changes. The list of a whole program is computed at each call.
// So is the list of a process with a running reconcile that may start goroutines.
func (a actor) Offers() []sim.Action {
	p := a.p
	switch {
	case p.engine != nil && !p.Down:
		p.offers, p.touched = p.engine.offer(p.offers[:0]), true
	case p.concurrent() && p.busy > 0: // goroutines of a reconcile may have continued because time has passed
		p.offers, p.touched = p.offer(p.offers[:0]), true
	case p.touched:
		p.offers, p.touched = p.offer(p.offers[:0]), false
	}
	return p.offers
}

func (p *Process) offer(into []sim.Action) []sim.Action {
	if p.Down {
		if p.restarts {
			into = append(into, sim.Action{Class: sim.Work, Actor: p.Name, Detail: restart})
		}
		return into
	}
	free := -1
	for i, w := range p.workers {
		switch w.state {
		case gathered:
			into = w.offer(i, into)
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
	into = append(into, p.news...)
	if free >= 0 && p.queue.Len() > 0 && (p.synced || p.controller.Careless.StartUnsynced) {
		into = append(into, sim.Action{Class: sim.Work, Actor: p.Name, Detail: p.workers[free].label, Slot: free})
	}
	return into
}

// notice adds or removes the action that delivers an event of the informer. Each function that adds or removes waiting
// events must call notice. This is faster than checking all informers: a garbage collector watches every kind, and most
// kinds never have events.
func (i *informer) notice() {
	has := !i.held && i.pending() > 0
	if has == i.noticed {
		return
	}
	p := i.process
	p.touched = true
	at, _ := slices.BinarySearchFunc(p.news, i.slot, func(a sim.Action, slot int) int { return a.Slot - slot })
	if i.noticed = has; has {
		a := sim.Action{Class: sim.Deliver, Actor: p.Name, Detail: i.kind.GVK.Kind, Slot: i.slot}
		p.news = slices.Insert(p.news, at, a)
	} else {
		p.news = slices.Delete(p.news, at, at+1)
	}
}

func (a actor) Take(x sim.Action) {
	p := a.p
	p.touched = true
	switch {
	case x.Class == sim.Work && x.Detail == restart:
		p.Restart(p.from)
	case p.engine != nil:
		p.engine.take(x)
	case p.asks(x):
		w, c := p.callOf(x)
		w.take(c, x.Class)
	case x.Class == sim.Respond && p.workers[x.Slot].concurrentSync != nil:
		p.workers[x.Slot].dismiss()
	case x.Class == sim.Respond:
		p.workers[x.Slot].resumeSync()
	case x.Class == sim.Execute:
		w := p.workers[x.Slot]
		w.execute(p.cluster.fault(p.Name, w.req))
	case x.Class == sim.Deliver:
		p.deliver(p.order[x.Slot])
	case x.Class == sim.Work:
		p.workers[x.Slot].begin()
	default:
		panic("host: took " + x.Key() + ", which a process does not offer")
	}
	p.touched = true
}

// deliver delivers the initial list or the next change to an informer and its handlers.
func (p *Process) deliver(i *informer) {
	if p.concurrent() || p.timed != nil {
		p.inside("a handler", i.deliver)
	} else {
		i.deliver() // the usual case; passing i.deliver to inside would allocate
	}
	p.noteSynced()
}

// Asking returns the first pending request of the process. isAnswered is set if the request was executed.
func (p *Process) Asking() (req *fakeapi.Request, isAnswered, ok bool) {
	for _, w := range p.workers {
		if w.state != idle && w.req != nil {
			return w.req, w.state == answered, true
		}
		if w.concurrentSync != nil && len(w.concurrentSync.calls) > 0 {
			return w.concurrentSync.calls[0].Request, w.concurrentSync.calls[0].state == answered, true
		}
	}
	if p.engine != nil && !p.Down {
		return p.engine.asking()
	}
	return nil, false, false
}

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

// Footprint returns the state that an action uses: always the private state of the process. An action that executes a
// request also uses the requested objects.
func (a actor) Footprint(x sim.Action) sim.Footprint {
	p := a.p
	f := sim.Footprint{Process: p.Name,
		Global: len(p.members) > 0 || p.slowWrites > 0} // an action may start or stop other processes, or move the clock
	switch {
	case p.engine != nil:
		f.Global = true
	case x.Class == sim.Execute:
		var req *fakeapi.Request
		if p.asks(x) {
			_, c := p.callOf(x)
			req = c.Request
		} else {
			req = p.workers[x.Slot].req
		}
		f.Kind, f.Write = req.Kind.GVK.Kind, req.Verb != fakeapi.Get && req.Verb != fakeapi.List
		if req.Name != "" {
			f.Object = req.Namespace + "/" + req.Name
		}
		// the deletion of a namespace affects creations in it: the server refuses them
		if req.Kind.GVK.Kind == "Namespace" && f.Write {
			f.Global = true
		}
	case x.Class == sim.Deliver:
		// only an initial list reads the server; other deliveries commute with writes, which only add waiting events
		if i := p.order[x.Slot]; !i.synced {
			f.Kind = i.kind.GVK.Kind
		}
	case x.Detail == restart:
		f.Global = true
	}
	return f
}

func (a actor) Digest(h *sim.Hash) {
	p := a.p
	h.String(p.Name)
	h.String(p.Era)
	h.Word(uint64(p.Incarnation))
	h.Bool(p.Down)
	h.Word(uint64(p.slow))
	h.Word(uint64(p.slowWrites))
	if p.Down {
		h.Bool(p.restarts)
		h.Word(p.from)
		if p.from != 0 {
			p.cluster.digestBefore(p.from, h)
		}
		return
	}
	if p.engine != nil {
		p.engine.digestAbstract(h) // the memory of a program is unknown: see Undigested
		return
	}
	for _, i := range p.order {
		i.digest(h)
	}
	p.queue.digest(h)
	for _, w := range p.workers {
		if w.concurrentSync != nil {
			w.gather()
			w.concurrentSync.digest(h)
		}
		h.Word(uint64(w.state))
		h.String(w.key)
		h.Word(uint64(w.local))
		if w.state == asking {
			h.Word(w.late)
		}
	}
	p.digestMemory(h)
}

// Undigested returns "the program NAME" for a whole program, because its memory cannot be digested.
func (a actor) Undigested() string {
	if a.p.IsProgram() {
		return "the program " + a.p.Name
	}
	return ""
}

// digestAbstract adds the state that decides whether a fight repeats itself. It leaves out the controller's memory,
// because the memory follows from what the controller has read.
func (p *Process) digestAbstract(h *sim.Hash) {
	h.Bool(p.Down)
	if p.Down {
		return // the caches of a crashed process are lost
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
		h.Word(i.stream.digest.sum)
	}
	h.Word(uint64(p.queue.Len()))
	if !p.controller.For.Empty() {
		h.Word(p.queue.line.sum)
	}
	for _, w := range p.workers {
		h.Word(uint64(w.state))
		h.Word(uint64(w.abstract))
		if w.concurrentSync != nil {
			for _, c := range w.concurrentSync.calls {
				h.Word(uint64(c.state))
				h.Word(uint64(c.abstract))
			}
		}
	}
}
