package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// Dependence reports a wrong footprint: an action disabled another action that was declared independent.
type Dependence struct {
	Step     int
	Taken    string
	Disabled string
}

func (d *Dependence) Error() string {
	return fmt.Sprintf("step %d: %q was declared independent of %q, but disabled it", d.Step, d.Taken, d.Disabled)
}

// decide adds a decision about the enabled actions. It returns false if the run must end instead.
func (s *search) decide(w *sim.World, enabled []sim.Action) bool {
	if w.Steps() >= s.MaxSteps {
		s.cover.stop(fmt.Sprintf("bound of %d steps", s.MaxSteps))
		return false
	}
	parent := s.last
	d := s.push() // push may move the stack, so parent is an index
	d.pick, d.next, d.steps, d.state, d.loaded = false, 0, w.Steps(), 0, false
	d.actions = append(d.actions[:0], enabled...)
	d.ids = identities(d.ids[:0], enabled)
	s.inherit(d, parent)
	if s.err != nil || !s.alternatives(d, w) {
		s.stack = s.stack[:len(s.stack)-1]
		return false
	}
	d.feet = d.feet[:0]
	if len(d.todo)+len(s.sleep) > 1 && !s.NoSleep {
		for _, a := range d.actions {
			d.feet = append(d.feet, w.Footprint(a))
		}
	}
	if s.limit > 0 && len(s.stack) >= s.limit {
		s.part()
		s.stack = s.stack[:len(s.stack)-1]
		return false
	}
	s.cover.Transitions++
	return true
}

// identities returns hashes of the actions' keys. Two enabled actions with the same key get 0, and never sleep.
func identities(into []uint64, actions []sim.Action) []uint64 {
	for _, a := range actions {
		var h sim.Hash
		h.Word(uint64(a.Class))
		h.String(a.Actor)
		h.String(a.Detail)
		into = append(into, max(uint64(h), 1))
	}
	for i, id := range into {
		for j := i + 1; j < len(into); j++ {
			if id != 0 && into[j] == id {
				into[i], into[j] = 0, 0
			}
		}
	}
	return into
}

// inherit computes the sleep set at d. An action sleeps at d if it was asleep or explored at the parent, and is
// independent of the action that was taken there. The set is empty unless d is one step after the parent.
func (s *search) inherit(d *decision, parent int) {
	s.sleep = s.sleep[:0]
	d.asleep = d.asleep[:0]
	for range d.ids {
		d.asleep = append(d.asleep, false)
	}
	if parent < 0 || s.NoSleep {
		return
	}
	p := &s.stack[parent]
	took := p.todo[p.next]
	if took < 0 || d.steps != p.steps+1 {
		return
	}
	for i, asleep := range p.asleep {
		if !asleep || !s.independent(p.feet[i], p.feet[took]) {
			continue
		}
		if j := indexOf(d.ids, p.ids[i]); j >= 0 {
			d.asleep[j] = true
			s.sleep = append(s.sleep, d.ids[j])
		} else if !offered(d.actions, p.actions[i]) {
			s.err = &Dependence{Step: d.steps, Taken: p.actions[took].Key(), Disabled: p.actions[i].Key()}
		}
	}
}

func (s *search) independent(f, g sim.Footprint) bool {
	return (s.CommutingWrites || !f.Write || !g.Write) && f.Independent(g)
}

func indexOf(ids []uint64, id uint64) int {
	for i, x := range ids {
		if x == id {
			return i
		}
	}
	return -1
}

func offered(actions []sim.Action, a sim.Action) bool {
	for _, b := range actions {
		if a.Same(b) {
			return true
		}
	}
	return false
}

// alternatives sets d.todo to the actions to explore. These depend on the sleep set and on earlier visits to the state.
// It reports whether there are any.
func (s *search) alternatives(d *decision, w *sim.World) bool {
	d.todo = d.todo[:0]
	before, known := []uint64(nil), false
	if !s.NoHashing {
		d.state = s.stateOf(w)
		before, known = s.visited.sleep(d.state)
		s.findCycle(d)
	}
	if !known {
		if onlyFaults(d.actions) {
			d.todo = append(d.todo, -1)
		}
		for i := range d.actions {
			if !d.asleep[i] && (s.mayBeEarly() || !isEarly(d.actions, i)) {
				d.todo = append(d.todo, i)
			}
		}
		if !s.NoHashing {
			s.visited.enter(d.state, s.sleep)
		}
		if len(d.todo) == 0 {
			s.cover.Asleep++
		}
		return len(d.todo) > 0
	}
	if subset(before, s.sleep) {
		s.cover.Pruned++
		return false
	}
	s.wake(d, before)
	return len(d.todo) > 0
}

func (s *search) mayBeEarly() bool { return s.Early < 0 || s.early < s.Early }

// wake explores a known state again, but only by the actions that were asleep at every earlier visit and are awake now.
// Actions that were always asleep stay asleep.
//
// In a world without cycles, wake is not needed, because every successor by a sleeping action was visited before. For
// worlds with cycles this is not proven. Therefore wake follows the literature on state caching.
func (s *search) wake(d *decision, before []uint64) {
	for i, id := range d.ids {
		was := id != 0 && contains(before, id)
		if was && !d.asleep[i] {
			d.todo = append(d.todo, i)
		}
		d.asleep[i] = d.asleep[i] && was
	}
	s.visited.narrow(d.state, s.sleep)
}

// stateOf hashes everything that determines the future: the world, the observers, the progress of the program, and the
// number of timers that may still fire early.
func (s *search) stateOf(w *sim.World) uint64 {
	var h sim.Hash
	h.Word(w.StateHash())
	h.Word(uint64(w.Steps()-s.taken)<<32 | uint64(s.left))
	if s.Early >= 0 {
		h.Word(uint64(s.early))
	}
	for _, o := range w.Observers {
		if d, ok := o.(sim.Digester); ok {
			d.Digest(&h)
		}
	}
	return uint64(h)
}
