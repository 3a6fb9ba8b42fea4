package bubble

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim/host"
)

// Controller is a program as a controller. It serves until its context ends; when it
// returns, whatever it returns, its process starts it anew after a while, as a kubelet
// would. As says its name, and what the laws may ask of it: For and Owns, and whatever else
// is known.
func Controller(as host.Controller, run func(ctx context.Context, cfg *rest.Config) error) host.Controller {
	return host.Hosting(as, func(c *host.Cluster, process string) host.Program {
		return &program{room: roomOf(c, as.Name), name: process, run: run}
	})
}

// program is a program of a process. It lives again after each crash.
type program struct {
	room *room
	name string
	run  func(ctx context.Context, cfg *rest.Config) error
	life *life
}

// Start begins a life.
func (p *program) Start() {
	p.room.seed()
	p.room.in(func() {
		p.life = newLife(p.room)
		p.room.last[p.name] = p.life
		cfg := p.config()
		p.life.begin(func(ctx context.Context) error { return p.run(ctx, cfg) })
	})
	p.room.quiet.Stir()
}

// config is what the program is given: a client without a rate limit of its own, since
// time is virtual and the schedule says how slow a server is.
func (p *program) config() *rest.Config {
	return &rest.Config{Host: "http://" + p.name, UserAgent: p.name, QPS: -1,
		Transport: p.room.gate().GatedTransport(p.life)}
}

// Kill ends the life that is going on.
func (p *program) Kill() {
	if l := p.life; l != nil {
		p.life = nil
		l.end()
		p.room.quiet.Stir()
	}
}

// Asked lists the new calls.
func (p *program) Asked() []*host.Call {
	if p.life == nil {
		return nil
	}
	p.room.quiet.Wake()
	return p.life.taken()
}

// Queried lists the new queries.
func (p *program) Queried() []host.Query {
	if p.life == nil {
		return nil
	}
	return p.life.queried()
}

// Ended reports whether the program has returned.
func (p *program) Ended() (error, bool) {
	if p.life == nil {
		return nil, false
	}
	p.life.mu.Lock()
	defer p.life.mu.Unlock()
	return p.life.err, p.life.over
}

// Answer delivers the answer to a call.
func (p *program) Answer(c *host.Call) {
	if c.Response.Err != nil {
		p.room.seed()
	}
	p.room.in(func() { p.life.answer(c) })
	p.room.quiet.Stir()
}
