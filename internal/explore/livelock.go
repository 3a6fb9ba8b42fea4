package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// A livelock is a cycle of states in which no enabled action is starved. A run that returns to one of its own states
// has written nothing, because every write to a server leaves a trace in its state.

// A cycle in which time passes does not return to the same state. The controller may be waiting, and the program's own
// bound decides whether it waits too long.

// findCycle records a cycle if the run returned to one of its own states.
func (s *search) findCycle(d *decision) {
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

// fair reports whether no action was starved from a decision on. It ignores faults.
func (s *search) fair(from int, d *decision) bool {
	for i, a := range d.actions {
		if a.Class != sim.Fault && s.starved(from, d.ids[i]) {
			return false
		}
	}
	return true
}

// starved reports whether an action was enabled at every decision from one on and taken at none.
func (s *search) starved(from int, id uint64) bool {
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

// livelocked counts a livelock and describes the first one by the actions of its cycle.
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
