package kubectltest

import (
	"context"
	"testing"
	"time"

	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// turn is the time between the turns of two controllers. No timer of kubectl fires at the same time.
const turn = 997 * time.Millisecond

// manager runs controllers against the handler's server. In each turn a controller without memory runs until it
// settles.
type manager struct {
	handler *httpapi.Handler
	members []member
}

type member struct {
	controller host.Controller
	seen       uint64    // the server's revision after its last turn
	due        time.Time // the time of its first timer; zero without a timer
}

// add starts the controllers of a list, like serve --controllers.
func (m *manager) add(t testing.TB, list []string) {
	chosen, what := builtin.Registry().Choose(list)
	if what != "" {
		t.Fatal("controllers: " + what)
	}
	for _, c := range chosen {
		m.members = append(m.members, member{controller: c})
	}
}

func (m *manager) join() (err error) {
	node := kubelet.NewNode("node-1", time.Now())
	m.handler.With(func(s *fakeapi.Server) {
		r, _ := s.Do(time.Now(), &fakeapi.Request{Verb: fakeapi.Create, Kind: s.KindOf(node), Object: node,
			UserAgent: "kubelet"})
		if r.Err != nil {
			err = r.Err
		}
	})
	m.members = append(m.members, member{controller: kubelet.New(kubelet.Options{Lifelike: true, Bind: node.Name})})
	return err
}

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

// turn runs one controller until it settles. It does nothing without a new write or a due timer. The clock does not
// advance, so later timers wait for the next turn.
func (m *manager) turn(c *member) {
	m.handler.With(func(s *fakeapi.Server) {
		if s.Version() == c.seen && (c.due.IsZero() || time.Now().Before(c.due)) {
			return
		}
		w := sim.New(sim.Zero{})
		w.Clock.Advance(time.Since(sim.Epoch))
		cluster := host.NewCluster(w, s)
		process := cluster.Start(c.controller.Name, c.controller)
		defer process.Crash(false) // its coroutines must end with the turn
		for range 100_000 {
			enabled := w.Enabled()
			if len(enabled) == 0 || enabled[0].Class == sim.Timer {
				c.seen, c.due = s.Version(), time.Time{}
				if len(enabled) > 0 {
					c.due = sim.Epoch.Add(w.Clock.Pending()[enabled[0].Slot].At)
				}
				return
			}
			w.Take(enabled[0])
		}
		panic(c.controller.Name + " does not settle")
	})
}
