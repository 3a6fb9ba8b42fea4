package bubble

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/sim/host"
)

func (p *program) Send(s *host.Stream, e watch.Event) {
	if e.Type == watch.Error {
		p.room.seed()
	}
	p.room.in(func() { p.life.send(s, e) })
	p.room.quiet.Stir()
}
