package explore

import (
	"cmp"
	"errors"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// A search is divided into parts. A part consists of all runs that begin with the same short prefix of choices. Every
// shard finds the same list of parts. Shard i of n explores the parts i, i+n, i+2n, and so on. Each shard has its own
// table of states, so several shards may explore the same state.
//
// No state is lost. A shard prunes a state only if it has expanded the state itself, or if a part begins at the state.
// In the second case, the shard with that part expands the state. All shards store the same sleep set for the state. If
// another path wakes actions of the state, the shard on this path explores them.

// split divides the search into at least partsPerShard parts for each shard, so that the shards have similar sizes. It
// makes fewer parts if the search is small, or if the prefixes have more than maxPrefixes states.
const (
	partsPerShard = 16
	maxPrefixes   = 5000
)

// split explores the prefixes and returns the parts. A part is the stack of decisions with which its runs begin.
// Without shards there is one part. Only shard 0 counts the coverage of the prefixes, and only if it does not resume
// from a mark.
func (s *search) split() [][]decision {
	if s.Shards <= 1 {
		s.reset()
		s.visited.journal = s.newJournal()
		return [][]decision{nil}
	}
	stop, due := s.Stop, s.Due
	s.Stop, s.Due = nil, nil
	best, most := 0, 0
	for depth := 2; ; depth += (depth + 1) / 2 {
		n := s.walk(depth)
		if n > most {
			best, most = depth, n
		}
		if n == 0 && most > 0 { // the world is small: divide it at the depth with the most parts
			s.walk(best)
		}
		if n == 0 || n >= cmp.Or(s.partsPerShard, partsPerShard)*s.Shards || len(s.visited.at) > maxPrefixes || s.err != nil {
			break
		}
	}
	s.Stop, s.Due, s.limit, s.stack = stop, due, 0, nil
	if s.Shard != 0 || s.Resume != nil {
		s.cover = &Coverage{EarlyTimers: s.Early}
		s.visited.journal = s.newJournal()
	}
	return s.parts
}

// walk explores the prefixes of this depth. It returns the number of parts that begin after them.
func (s *search) walk(depth int) int {
	s.reset()
	s.visited.journal = s.newJournal()
	s.limit, s.parts = depth, nil
	s.explore()
	return len(s.parts)
}

func (s *search) reset() {
	s.visited, s.cover, s.stack = newVisited(), &Coverage{EarlyTimers: s.Early}, nil
}

func (s *search) newJournal() *Mark {
	if s.Save == nil {
		return nil
	}
	return &Mark{}
}

// part adds the part that begins with the decisions on the stack.
func (s *search) part() {
	stack := slices.Clone(s.stack)
	for i := range stack {
		d := &stack[i]
		d.actions, d.ids, d.feet = slices.Clone(d.actions), slices.Clone(d.ids), slices.Clone(d.feet)
		d.asleep, d.todo = slices.Clone(d.asleep), slices.Clone(d.todo)
	}
	s.parts = append(s.parts, stack)
}

// Mark is the position of an exhaustive search. A killed search continues from the last mark, and needs the tables of
// all marks.
type Mark struct {
	Item   int      `json:"item"` // index of the part that is being explored
	Runs   int      `json:"runs"` // runs so far, also of earlier processes
	Stack  []Frame  `json:"stack,omitempty"`
	Ended  bool     `json:"ended,omitempty"` // the search has ended
	Table  []uint64 `json:"-"`               // per state since the last mark: hash, size of its sleep set, the set
	Finals []uint64 `json:"-"`               // final states since the last mark, without those of violations
}

// Frame is a decision on the stack of a [Mark]. When the search continues, it runs the program to find the rest of the
// decision, such as the enabled actions.
type Frame struct {
	Pick   int    `json:"pick,omitempty"` // for a pick: the number of alternatives; 0 for an action
	At     int    `json:"at,omitempty"`
	Label  string `json:"label,omitempty"`
	State  uint64 `json:"state,omitempty"`
	Todo   []int  `json:"todo,omitempty"`
	Asleep []int  `json:"asleep,omitempty"`
}

// Add appends the mark that follows m.
func (m *Mark) Add(next *Mark) {
	m.Item, m.Runs, m.Stack, m.Ended = next.Item, next.Runs, next.Stack, next.Ended
	m.Table, m.Finals = append(m.Table, next.Table...), append(m.Finals, next.Finals...)
}

// States returns the states in the table, then the final states. A state may occur twice. An error means that the table
// is truncated.
func (m *Mark) States() (states []uint64, err error) {
	for i := 0; i < len(m.Table); {
		if i+1 >= len(m.Table) || m.Table[i+1] > uint64(len(m.Table)-i-2) {
			return nil, errors.New("the table of states is cut off")
		}
		states = append(states, m.Table[i])
		i += 2 + int(m.Table[i+1])
	}
	return append(states, m.Finals...), nil
}

// mark returns the position of the search, and the states since the last call.
func (s *search) mark(ended bool) *Mark {
	m := s.visited.journal
	s.visited.journal = s.newJournal()
	m.Item, m.Runs, m.Ended = s.item, s.before+s.cover.Runs, ended
	for i := range s.stack {
		d := &s.stack[i]
		f := Frame{State: d.state}
		if d.pick {
			f = Frame{Pick: d.n, At: d.at, Label: d.label}
		} else {
			f.At, f.Todo = d.next, slices.Clone(d.todo)
			for j, asleep := range d.asleep {
				if asleep {
					f.Asleep = append(f.Asleep, j)
				}
			}
		}
		m.Stack = append(m.Stack, f)
	}
	return m
}

func (s *search) load(m *Mark) {
	journal := s.visited.journal
	s.visited.journal = nil
	for i := 0; i+1 < len(m.Table); {
		n := int(m.Table[i+1])
		s.visited.enter(m.Table[i], m.Table[i+2:i+2+n])
		i += 2 + n
	}
	for _, f := range m.Finals {
		s.visited.final(f, false)
	}
	s.visited.journal, s.item, s.before = journal, m.Item, m.Runs
	if m.Ended || len(m.Stack) == 0 {
		return
	}
	s.base = 0
	if s.Shards > 1 && m.Item < len(s.parts) {
		s.base = len(s.parts[m.Item]) - 1
	}
	for _, f := range m.Stack {
		d := decision{pick: f.Pick > 0, n: f.Pick, at: f.At, label: f.Label}
		if !d.pick {
			d = decision{state: f.State, todo: f.Todo, next: f.At, loaded: true}
			for _, j := range f.Asleep {
				d.asleep = append(d.asleep, make([]bool, j+1-len(d.asleep))...)
				d.asleep[j] = true
			}
		}
		s.stack = append(s.stack, d)
	}
}

// refill completes a decision that was loaded from a mark, when a run reaches it.
func (s *search) refill(d *decision, w *sim.World, enabled []sim.Action) {
	d.loaded, d.steps = false, w.Steps()
	d.actions, d.ids = slices.Clone(enabled), identities(nil, enabled)
	d.asleep = append(d.asleep, make([]bool, max(0, len(enabled)-len(d.asleep)))...)
	for _, a := range enabled {
		d.feet = append(d.feet, w.Footprint(a))
	}
	if d.next >= len(d.todo) || len(d.asleep) > len(enabled) || slices.Max(d.todo) >= len(enabled) {
		d.todo, d.next = []int{len(enabled)}, 0 // this makes Next report that the run diverged
		d.actions = nil
	}
}
