package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// A run that comes back to a state of its own has changed nothing: every write to
// a server leaves a trace in its state. Where it could go round like that for ever
// although everybody gets his turn, the world is locked alive.

// Where time passes on the way it is no such round: the controller may wait for a
// moment, and whoever runs the world says when it has waited for too long.

// goesRound takes it down when the run came back to a state of its own.
func (s *search) goesRound(d *decision) {
	for i := len(s.stack) - 2; i >= 0; i-- {
		e := &s.stack[i]
		if e.pick || e.state != d.state || e.steps == d.steps {
			continue
		}
		s.cover.Cycles++
		if s.fair(i, d) {
			s.livelocked(i, d)
		}
		return
	}
}

// fair reports whether nobody was kept waiting from a decision on: whatever but
// a fault was enabled all the time was done.
func (s *search) fair(from int, d *decision) bool {
	for i, a := range d.actions {
		if a.Class != sim.Fault && s.waits(from, d.ids[i]) {
			return false
		}
	}
	return true
}

// waits reports whether an action was enabled at every decision from one on and
// taken at none.
func (s *search) waits(from int, id uint64) bool {
	for i := from; i < len(s.stack)-1; i++ {
		e := &s.stack[i]
		if e.pick {
			continue
		}
		if took := e.todo[e.next]; took >= 0 && e.ids[took] == id || indexOf(e.ids, id) < 0 {
			return false
		}
	}
	return id != 0
}

// livelocked takes down what goes round: who does what, in the first such run.
func (s *search) livelocked(from int, d *decision) {
	s.cover.Livelocks++
	if s.cover.Livelock != "" {
		return
	}
	text := ""
	for i := from; i < len(s.stack)-1; i++ {
		e := &s.stack[i]
		if e.pick || e.todo[e.next] < 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += e.actions[e.todo[e.next]].Key()
	}
	s.cover.Livelock = fmt.Sprintf("the state after %d steps recurs after %d: %s", s.stack[from].steps, d.steps, text)
}
