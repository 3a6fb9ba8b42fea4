package fight

import (
	"slices"
	"time"
)

// Path is the states that one thing went through: a field, an owner, a number. The way
// back to a state is taken out when that state recurs, so that what is left is the shortest
// way, and in a circle there is only what took part in it. The zero value is ready. A is
// who can have brought it into a state.
type Path[A comparable] struct {
	visits []Visit[A]
}

// Visit is a state that something was in, and who brought it there.
type Visit[A comparable] struct {
	State uint64
	By    A // of no use in the state in which a thing was met
	At    time.Time
	Words string // what was done
}

// longestPath is how many states are kept.
const longestPath = 24

// Begin sets the state in which a thing is met, where nothing is known of it.
func (p *Path[A]) Begin(state uint64, at time.Time) {
	if len(p.visits) == 0 {
		p.visits = append(p.visits, Visit[A]{State: state, At: at})
	}
}

// Last is the state that it is in, false where nothing is known.
func (p *Path[A]) Last() (Visit[A], bool) {
	if len(p.visits) == 0 {
		return Visit[A]{}, false
	}
	return p.visits[len(p.visits)-1], true
}

// Restart forgets the way here.
func (p *Path[A]) Restart(v Visit[A]) { p.visits = append(p.visits[:0], v) }

// Clear forgets all.
func (p *Path[A]) Clear() { p.visits = p.visits[:0] }

// Visit notes that a thing came into a state. It returns the circle that this closes, the
// visit that closed it last; nil for none.
func (p *Path[A]) Visit(v Visit[A]) []Visit[A] {
	if n := len(p.visits); n > 0 && p.visits[n-1].State == v.State {
		return nil
	}
	i := slices.IndexFunc(p.visits, func(w Visit[A]) bool { return w.State == v.State })
	if i < 0 {
		if len(p.visits) == longestPath {
			p.visits = append(p.visits[:0], p.visits[1:]...)
		}
		p.visits = append(p.visits, v)
		return nil
	}
	circle := append(slices.Clone(p.visits[i+1:]), v)
	p.visits = p.visits[:i+1]
	p.visits[i].At = v.At
	return circle
}
