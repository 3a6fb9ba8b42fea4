package host

import (
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// asking is the first call in canonical order.
func (g *guest) asking() (req *fakeapi.Request, isAnswered, ok bool) {
	if g.collect(); len(g.calls) == 0 {
		return nil, false, false
	}
	return g.calls[0].Request, g.calls[0].state == answered, true
}

func (g *guest) filling() bool {
	g.collect()
	return !g.begun
}

// asker finds a call that waits to be executed. One that opens a watch is not among them:
// what faults answer is what is asked of objects. Nor is one for whose answer nobody waits any more.
func (g *guest) asker(f func(asker) bool) asker {
	if _, ended := g.program.Ended(); ended {
		return nil
	}
	for _, c := range g.calls {
		if c.state == asking && !c.Watches && !c.withdrawn() && f(c) {
			return c
		}
	}
	return nil
}

// watched are the kinds that the program watches, and those whose watch the server has ended
// and that it is about to watch again.
func (g *guest) watched() []*fakeapi.Kind {
	all := g.kinds(func(*Stream) bool { return true })
	for _, s := range g.order {
		if k := s.state.kind; g.expired[k] && !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

// gaps are the kinds of which more than one event waits.
func (g *guest) gaps() []*fakeapi.Kind {
	return g.kinds(func(s *Stream) bool { return g.waiting(s) > 1 })
}

func (g *guest) kinds(of func(*Stream) bool) (all []*fakeapi.Kind) {
	for _, s := range g.streams {
		if of(s) && !slices.Contains(all, s.Kind) {
			all = append(all, s.Kind)
		}
	}
	return all
}

// hold keeps the events of a kind back, or not any more.
func (g *guest) hold(k *fakeapi.Kind, held bool) bool {
	if held && !slices.Contains(g.watched(), k) {
		return false
	}
	g.held[k] = held
	return true
}

func (g *guest) holding() bool {
	return slices.ContainsFunc(g.streams, func(s *Stream) bool { return g.held[s.Kind] })
}

func (g *guest) withheld() bool {
	return slices.ContainsFunc(g.streams, func(s *Stream) bool { return g.held[s.Kind] && g.waiting(s) > 0 })
}

// relist ends the watches of a kind, as a server does that has forgotten where they
// stand: the program lists again.
func (g *guest) relist(k *fakeapi.Kind) bool {
	hit := false
	for _, s := range g.streams {
		if s.Kind != k {
			continue
		}
		s.queue, s.over, hit, g.expired[k] = nil, true, true, true
		g.program.Send(s, watch.Event{Type: watch.Error, Object: expired()})
	}
	g.streams = slices.DeleteFunc(g.streams, (*Stream).Closed)
	return hit
}

// digestAbstract folds what matters to whether a fight goes round.
func (g *guest) digestAbstract(h *sim.Hash) {
	g.collect()
	for _, s := range g.order {
		h.Word(s.abstract)
	}
	for _, s := range g.streams {
		g.waiting(s)
		h.Word(uint64(len(s.queue)))
		for i := range s.queue {
			if is := &s.queue[i].is; is.after != nil || is.before != nil {
				h.Word(is.abstract())
			}
		}
	}
	var sum uint64
	for _, c := range g.calls {
		var one sim.Hash
		one.String(string(c.Request.Verb))
		one.String(c.Request.Kind.GVK.Kind)
		one.Word(uint64(c.state))
		one.Word(uint64(c.Response.Code))
		sum += sim.Mix(uint64(one))
	}
	h.Word(sum)
}
