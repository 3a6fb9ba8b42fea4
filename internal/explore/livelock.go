package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// A livelock is a cycle of states that starves no action: an action that is enabled at every decision of the cycle is
// also taken. The cycle contains no write to a server, because no state recurs after a write. The state also includes
// the time. So a controller that waits with a timer is not in a livelock.

// findCycle counts a cycle if the state of d occurred earlier in the run, at least one step before. If the cycle is
// fair, findCycle also counts a livelock.
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

// fair reports whether the cycle from s.stack[from] to d starves no action that is enabled at d. Faults do not count.
func (s *search) fair(from int, d *decision) bool {
	for i, a := range d.actions {
		if a.Class != sim.Fault && s.starved(from, d.ids[i]) {
			return false
		}
	}
	return true
}

// starved reports whether the action with this id was enabled at every decision of the cycle that begins at
// s.stack[from], but was never taken.
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

// livelocked counts a livelock. It describes the first livelock by the actions of its cycle.
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
