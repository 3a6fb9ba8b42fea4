package explore

import (
	"cmp"
	"errors"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// A search on several machines is divided by prefixes of choices. Every shard walks the same short prefixes, which gives
// the same list of parts, and explores the parts whose place in the list modulo the number of shards is its own. So the
// parts are disjoint, and together they are everything. States are not: each shard has a table of its own, and a state
// behind two parts is explored by both of their shards.
//
// No state is lost. A state that a shard prunes is one that it has expanded itself, or one at which a part begins, which
// the part's shard expands. The sleep set of such a state is the same in all tables at the start, and each shard itself
// explores what another path wakes.

// Parts are made until there are partsEach for each shard, which evens out their sizes, or until the prefixes have
// mostPrefixes states.
const (
	partsEach    = 16
	mostPrefixes = 5000
)

// split walks the prefixes. It returns the parts, each as the stack to begin with. Without shards the only part is
// everything. What the prefixes themselves came to belongs to shard 0.
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
		if n == 0 && most > 0 { // a small world: divide it where it is widest
			s.walk(best)
		}
		if n == 0 || n >= cmp.Or(s.partsEach, partsEach)*s.Shards || len(s.visited.at) > mostPrefixes || s.err != nil {
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

// walk collects the parts behind prefixes of so many decisions.
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

// part begins a part with the decision on top of the stack.
func (s *search) part() {
	stack := slices.Clone(s.stack)
	for i := range stack {
		d := &stack[i]
		d.actions, d.ids, d.feet = slices.Clone(d.actions), slices.Clone(d.ids), slices.Clone(d.feet)
		d.asleep, d.todo = slices.Clone(d.asleep), slices.Clone(d.todo)
	}
	s.parts = append(s.parts, stack)
}

// Mark holds the place of an exhaustive search. A killed search continues from it and the marks before it.
type Mark struct {
	Item   int      `json:"item"` // of the parts
	Runs   int      `json:"runs"` // up to here, of all processes
	Stack  []Frame  `json:"stack,omitempty"`
	Ended  bool     `json:"ended,omitempty"` // nothing is left
	Table  []uint64 `json:"-"`               // each state since the mark before, how many actions sleep in it, and these
	Finals []uint64 `json:"-"`               // final states since the mark before, without those of violations
}

// Frame is a decision of a [Mark]. What it does not say is found by following the stack once.
type Frame struct {
	Pick   int    `json:"pick,omitempty"` // the number of alternatives of a choice that is not one of actions
	At     int    `json:"at,omitempty"`
	Label  string `json:"label,omitempty"`
	State  uint64 `json:"state,omitempty"`
	Todo   []int  `json:"todo,omitempty"`
	Asleep []int  `json:"asleep,omitempty"`
}

// Add adds the mark that follows.
func (m *Mark) Add(next *Mark) {
	m.Item, m.Runs, m.Stack, m.Ended = next.Item, next.Runs, next.Stack, next.Ended
	m.Table, m.Finals = append(m.Table, next.Table...), append(m.Finals, next.Finals...)
}

// States returns the states of the mark's table. Some are there twice.
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

// mark returns where the search is, with what was added since the last call.
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

// load continues from a mark.
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

// refill completes a decision that was loaded, where a run has come to it.
func (s *search) refill(d *decision, w *sim.World, enabled []sim.Action) {
	d.loaded, d.steps = false, w.Steps()
	d.actions, d.ids = slices.Clone(enabled), identities(nil, enabled)
	d.asleep = append(d.asleep, make([]bool, max(0, len(enabled)-len(d.asleep)))...)
	for _, a := range enabled {
		d.feet = append(d.feet, w.Footprint(a))
	}
	if d.next >= len(d.todo) || len(d.asleep) > len(enabled) || slices.Max(d.todo) >= len(enabled) {
		d.todo, d.next = []int{len(enabled)}, 0 // the check behind this says that the run goes another way
		d.actions = nil
	}
}
