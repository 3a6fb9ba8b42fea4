package bubble

import (
	"context"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/sim/host"
)

// Controller returns a controller that hosts the program run. The program runs until its context ends. If it returns
// earlier, it is restarted after a delay, as by a kubelet. The parameter as holds the controller's name and what the
// laws may expect of it: For, Owns, and other fields if they are known.
func Controller(as host.Controller, run func(ctx context.Context, cfg *rest.Config) error) host.Controller {
	return host.Hosting(as, func(c *host.Cluster, process string) host.Program {
		return &hosted{room: roomOf(c, as.Name), name: process, run: run}
	})
}

type hosted struct {
	room *room
	name string
	run  func(ctx context.Context, cfg *rest.Config) error
	life *life
}

func (p *hosted) Start() {
	p.room.seed()
	p.room.in(func() {
		p.life = newLife(p.room)
		p.room.last[p.name] = p.life
		cfg := p.config()
		p.life.begin(func(ctx context.Context) error { return p.run(ctx, cfg) })
	})
	p.room.quiet.Stir()
}

// config returns the program's client configuration. It has no rate limit, because time is virtual.
func (p *hosted) config() *rest.Config {
	return &rest.Config{Host: "http://" + p.name, UserAgent: p.name, QPS: -1,
		Transport: p.room.gate().GatedTransport(p.life)}
}

func (p *hosted) Kill() {
	if l := p.life; l != nil {
		p.life = nil
		l.end()
		p.room.quiet.Stir()
	}
}

func (p *hosted) Asked() []*host.Call {
	if p.life == nil {
		return nil
	}
	p.room.quiet.Wake()
	return p.life.taken()
}

func (p *hosted) Queried() []host.Query {
	if p.life == nil {
		return nil
	}
	return p.life.queried()
}

func (p *hosted) Ended() (error, bool) {
	if p.life == nil {
		return nil, false
	}
	p.life.mu.Lock()
	defer p.life.mu.Unlock()
	return p.life.err, p.life.over
}

func (p *hosted) Answer(c *host.Call) {
	if c.Response.Err != nil {
		p.room.seed()
	}
	reports := p.life.reports[c]
	delete(p.life.reports, c)
	p.room.in(func() { p.life.answer(c) })
	if !reports {
		p.room.quiet.Stir()
	}
}

func (p *hosted) Send(s *host.Stream, e watch.Event) {
	if e.Type == watch.Error {
		p.room.seed()
	}
	p.room.in(func() { p.life.send(s, e) })
	if !quiet.IsLock(e.Object) {
		p.room.quiet.Stir()
	}
}
