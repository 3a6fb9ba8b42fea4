package kubectltest

import (
	"context"
	"testing"
	"time"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// turn is the time between two controllers' turns. It is no round number, so
// that no turn falls together with one of kubectl's timers.
const turn = 997 * time.Millisecond

// manager runs controllers against the handler's server. Each has a turn in
// which it does all there is to do for it; it starts afresh every time, so
// whatever it knows it has from the server.
type manager struct {
	handler *httpapi.Handler
	members []member
}

type member struct {
	controller host.Controller
	seen       uint64 // the revision it left the server at
}

// add starts a controller of the table, or one of this package.
func (m *manager) add(t testing.TB, name string) {
	table := append(controllers.Builtin(), deploymentController())
	for i := len(table) - 1; i >= 0; i-- {
		if c := table[i]; c.Name == name || controllers.FullName(&c) == name {
			m.members = append(m.members, member{controller: c})
			return
		}
	}
	t.Fatalf("controllers: there is no %q", name)
}

// run gives the controllers their turns until the context ends.
func (m *manager) run(ctx context.Context) {
	tick := time.NewTicker(turn)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n := len(m.members); n > 0 {
			m.turn(&m.members[i%n])
		}
	}
}

// turn settles one controller.
func (m *manager) turn(c *member) {
	m.handler.With(func(s *fakeapi.Server) {
		if s.Version() == c.seen {
			return
		}
		w := sim.New(sim.Zero{})
		w.Clock.Advance(time.Since(sim.Epoch))
		cluster := host.NewCluster(w, s)
		process := cluster.Start(c.controller.Name, c.controller)
		defer process.Crash(false) // its coroutines must not outlive the turn
		for range 100_000 {
			if !w.Step() {
				c.seen = s.Version()
				return
			}
		}
		panic(c.controller.Name + " does not settle")
	})
}
