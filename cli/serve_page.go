package cli

import (
	"strconv"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/live"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// page is the feed of the page of a server that runs.
func (s *site) page() *live.Feed {
	look := func(see func(live.World)) {
		s.handler.With(func(server *fakeapi.Server) {
			see(live.World{History: &s.trial.World.History, Broken: s.broken,
				Standing: func() []sim.Record { return trial.Standing(server) }})
		})
	}
	return live.New(look, s.trial.World.Clock.Elapsed(), strconv.FormatInt(time.Now().UnixNano(), 36))
}

// noting notes for the page what is told of. It is told under the server's lock.
func (s *site) noting(tell func(verdict)) func(verdict) {
	return func(v verdict) {
		s.broken = append(s.broken, render.MarkOf(*v.breach))
		tell(v)
	}
}
