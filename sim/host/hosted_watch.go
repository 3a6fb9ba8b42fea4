package host

import (
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// asking returns the first request that waits to be executed or answered, and whether it has been executed.
func (g *hosted) asking() (req *fakeapi.Request, isAnswered, ok bool) {
	if g.collect(); len(g.calls) == 0 {
		return nil, false, false
	}
	return g.calls[0].Request, g.calls[0].state == answered, true
}

func (g *hosted) filling() bool {
	g.collect()
	return !g.begun
}

// asker returns the first call that waits to be executed and for which f returns true. It skips canceled calls. It also
// skips calls that open a watch, because faults affect only requests about objects.
func (g *hosted) asker(f func(asker) bool) asker {
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

// watched returns the kinds that the program watches, and the kinds whose expired watch the program will start again.
func (g *hosted) watched() []*fakeapi.Kind {
	all := g.kinds(func(*Stream) bool { return true })
	for _, s := range g.order {
		if k := s.state.kind; g.expired[k] && !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

func (g *hosted) gaps() []*fakeapi.Kind {
	return g.kinds(func(s *Stream) bool { return g.waiting(s) > 1 })
}

func (g *hosted) kinds(of func(*Stream) bool) (all []*fakeapi.Kind) {
	for _, s := range g.streams {
		if of(s) && !slices.Contains(all, s.Kind) {
			all = append(all, s.Kind)
		}
	}
	return all
}

func (g *hosted) hold(k *fakeapi.Kind, held bool) bool {
	if held && !slices.Contains(g.watched(), k) {
		return false
	}
	g.held[k] = held
	return true
}

func (g *hosted) holding() bool {
	return slices.ContainsFunc(g.streams, func(s *Stream) bool { return g.held[s.Kind] })
}

func (g *hosted) withheld() bool {
	return slices.ContainsFunc(g.streams, func(s *Stream) bool { return g.held[s.Kind] && g.waiting(s) > 0 })
}

// relist ends the watches of a kind with 410, so that the program lists again.
func (g *hosted) relist(k *fakeapi.Kind) bool {
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

func (g *hosted) digestAbstract(h *sim.Hash) {
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
