package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// Exhaust enumerates every behavior of a program, up to the equivalences in the package comment.
type Exhaust struct {
	Program Runner

	MaxSteps  int  // bound on the steps of a run, including those before the first choice; 0 means 10,000
	MaxStates int  // 0 means no bound
	MaxRuns   int  // 0 means no bound
	All       bool // continue after the first violation; each run still ends at its first violation

	// CommutingWrites treats writes to different kinds as independent if their footprints allow it. The search reaches
	// the same states, but explores only one of the two orders. A law that relates two kinds ("no Pod is created for a
	// deleted ReplicaSet") then sees only this order.
	CommutingWrites bool

	// Early bounds the number of early timers per run. A timer is early if it fires while an action other than a fault
	// or a timer is enabled. With 0, timers fire only when no such action is enabled. A negative number means no bound.
	Early int

	// Fixed lists choices that the program does not vary. It is copied to [Coverage.Fixed].
	Fixed []string

	NoHashing bool // explore a state each time it occurs; a run of a world with cycles then ends only at MaxSteps
	NoSleep   bool // explore every order of independent actions

	// Shard is the index of this shard, counted from 0. Shards is the number of shards. See [search.split].
	Shard, Shards int
	partsPerShard int // set by tests

	// Due, if it is not nil, is called after each run. If it returns true, Save is called with the search's position
	// and the coverage so far. Save is also called at the end. If Save returns an error, the search ends.
	Due    func() bool
	Save   func(m *Mark, c *Coverage) error
	Resume *Mark // where an earlier search stopped, with the tables of all its marks; nil for a new search

	Stop     func() string   // called before each run; a nonempty reason ends the search
	Progress func(*Coverage) // called after every 1,024 runs with the numbers so far
}

const progressEvery = 1024

// Undigested is the error for an actor or an observer that has no digest of its whole state. Without digests, a search
// cannot recognize states.
type Undigested struct{ Name string }

func (u *Undigested) Error() string {
	return u.Name +
		" cannot digest its state, which an exhaustive search compares: use another strategy, for example random; " +
		"a controller, a law or an observer in Go can implement sim.Digester"
}

// Run performs the search. It returns a [*Disagreement] if the program depends on more than its choices, a
// [*Dependence] if a footprint is wrong, and an [*Undigested] if states cannot be compared. The coverage is always set.
func (x Exhaust) Run() (*Coverage, error) {
	if x.MaxSteps == 0 {
		x.MaxSteps = 10_000
	}
	s := &search{Exhaust: x}
	items := s.split()
	if x.Resume != nil && s.err == nil {
		s.load(x.Resume)
	}
	for ; s.item < len(items) && s.err == nil; s.item++ {
		if s.item%max(x.Shards, 1) != x.Shard {
			continue
		}
		if s.stack == nil {
			s.stack, s.base = items[s.item], max(len(items[s.item])-1, 0)
		}
		if !s.explore() {
			break
		}
		s.stack = nil
	}
	s.count()
	s.conclude()
	if s.err == nil && x.Save != nil {
		s.err = x.Save(s.mark(s.item >= len(items)), s.cover)
	}
	return s.cover, s.err
}

// explore explores all alternatives of the decisions above s.base. It returns false if the search must end earlier.
func (s *search) explore() bool {
	for {
		if why := s.mustStop(); why != "" {
			s.cover.stop(why)
			return false
		}
		s.begin()
		s.end(s.Program(s))
		if s.err != nil {
			s.cover.stop("error")
			return false
		}
		if s.cover.Runs%progressEvery == 0 && s.Progress != nil {
			s.count()
			s.Progress(s.cover)
		}
		more := s.advance()
		if !more {
			s.stack = nil
		}
		if len(s.cover.Failures) > 0 && !s.All {
			s.cover.stop("a law was violated")
			if !more {
				s.item++
			}
			return false
		}
		if !more {
			return true
		}
		if s.Due != nil && s.Due() {
			if s.err = s.Save(s.mark(false), s.cover); s.err != nil {
				return false
			}
		}
	}
}

// search is the state of a depth-first search. It is also the source of choices for every run: it replays the decisions
// on the stack, and then makes new ones.
type search struct {
	Exhaust
	visited *visited
	cover   *Coverage
	err     error

	item   int // index of the current part
	before int // runs in earlier processes of this search
	base   int // number of decisions at the bottom of the stack that are not varied
	limit  int // in split: number of decisions after which a part begins; otherwise 0
	parts  [][]decision

	stack []decision // the decisions of the current run
	pos   int        // decisions replayed or made in this run
	last  int        // index in stack of the run's last decision about an action; -1 if there is none
	taken int        // actions taken in this run
	left  int        // how often this run took none of the enabled faults
	early int        // timers that fired early in this run
	ended bool

	sleep []uint64 // the sleep set at the current decision; the memory is reused
}

// decision is a choice in the search, with its alternatives.
type decision struct {
	pick  bool
	n, at int // for a pick: the number of alternatives, and the current alternative
	label string

	state   uint64
	steps   int // the steps of the world so far
	actions []sim.Action
	ids     []uint64        // hashes of the actions' keys; 0 if two actions have the same key
	feet    []sim.Footprint // the footprints of the actions
	asleep  []bool          // for each action: it is asleep, or was already explored here
	todo    []int           // the actions to explore, as indexes in actions; -1 means to take no fault
	next    int             // index in todo of the current alternative
	loaded  bool            // loaded from a mark; actions and feet are not known yet
}

// ComparesStates returns true, because states are compared during a run or at its end.
func (s *search) ComparesStates() bool { return true }

func (s *search) Ended() bool { return s.ended }

func (s *search) begin() {
	s.pos, s.last, s.taken, s.left, s.early, s.ended = 0, -1, 0, 0, 0, false
}

func (s *search) mustStop() string {
	c := s.cover
	switch {
	case s.MaxStates > 0 && len(s.visited.at) >= s.MaxStates:
		return fmt.Sprintf("bound of %d states", s.MaxStates)
	case s.MaxRuns > 0 && c.Runs >= s.MaxRuns:
		return fmt.Sprintf("bound of %d runs", s.MaxRuns)
	case s.Stop != nil:
		return s.Stop()
	}
	return ""
}

// Pick enumerates the values of a choice that is not about an action.
func (s *search) Pick(n int, label string) int {
	if s.ended {
		return 0
	}
	if s.pos < len(s.stack) {
		d := &s.stack[s.pos]
		if !d.pick || d.n != n || d.label != label {
			s.diverged(fmt.Sprintf("pick 0..%d %s", n-1, label))
			return 0
		}
		s.pos++
		return d.at
	}
	d := s.push()
	d.pick, d.n, d.at, d.label = true, n, 0, label
	s.pos++
	s.cover.Transitions++
	return 0
}

// Next replays the next decision on the stack. After the last one it makes a new decision.
func (s *search) Next(w *sim.World, enabled []sim.Action) int {
	if s.ended {
		return -1
	}
	if s.cover.Runs == 0 && s.taken == 0 && !s.NoHashing {
		if name := w.Undigested(); name != "" {
			s.err, s.ended = &Undigested{Name: name}, true
			return -1
		}
	}
	if s.pos == len(s.stack) && !s.decide(w, enabled) {
		s.ended = true
		return -1
	}
	d := &s.stack[s.pos]
	if d.loaded {
		s.refill(d, w, enabled)
	}
	i := -1
	if !d.pick {
		i = d.todo[d.next]
	}
	if d.pick || len(d.actions) != len(enabled) || i >= 0 && !enabled[i].Same(d.actions[i]) {
		s.diverged(fmt.Sprint(keysOf(enabled)))
		return -1
	}
	s.last = s.pos
	s.pos++
	if i < 0 {
		s.left++
	} else {
		s.taken++
		if isEarly(enabled, i) {
			s.early++
		}
	}
	return i
}

// diverged ends a run whose choices differ from the decisions on the stack.
func (s *search) diverged(second string) {
	d := &s.stack[s.pos]
	first := fmt.Sprintf("pick 0..%d %s", d.n-1, d.label)
	if !d.pick {
		first = fmt.Sprint(keysOf(d.actions))
	}
	s.err = &Disagreement{Index: s.cover.Runs, Step: s.taken + 1, First: first, Second: second}
	s.ended = true
}

// push adds a decision to the stack. It reuses the memory of a removed decision.
func (s *search) push() *decision {
	if len(s.stack) < cap(s.stack) {
		s.stack = s.stack[:len(s.stack)+1]
	} else {
		s.stack = append(s.stack, decision{})
	}
	return &s.stack[len(s.stack)-1]
}

// end adds the outcome of a run to the coverage.
func (s *search) end(out *Outcome) {
	c := s.cover
	c.Runs++
	c.MaxSteps = max(c.MaxSteps, out.Steps)
	if s.err != nil {
		return
	}
	if s.pos < len(s.stack) {
		s.diverged("the end of the run")
		return
	}
	if out.Cut {
		c.cut++
	}
	if len(out.Findings) > 0 {
		s.failed(out)
	}
	if s.ended {
		return
	}
	c.Schedules++
	c.Outcomes.Add(out.Label)
	if out.Fight {
		c.Fights++
	}
	if out.State != 0 && !s.NoHashing && !s.wasLeft(out.Steps) {
		s.visited.final(out.State, len(out.Findings) > 0)
	}
	if !out.Settled && !out.Fight && len(out.Findings) == 0 {
		c.stop("a run reached the program's own bound")
		if c.Livelocks++; c.Livelock == "" {
			c.Livelock = fmt.Sprintf("a run did not settle in %d steps", out.Steps)
		}
	}
}

// wasLeft reports whether the run's last decision was to take no fault, and no step followed. Then the state at that
// decision is the final state, and was already stored.
func (s *search) wasLeft(steps int) bool {
	if s.last < 0 {
		return false
	}
	d := &s.stack[s.last]
	return d.todo[d.next] < 0 && d.steps == steps
}

func (s *search) failed(out *Outcome) {
	for _, f := range s.cover.Failures {
		if f.Violation.Same(out.Findings[0]) {
			return
		}
	}
	s.cover.Failures = append(s.cover.Failures, Failing{
		Index: s.before + s.cover.Runs - 1, Strategy: "exhaustive",
		Violation: out.Findings[0], Outcome: out, Schedule: s.schedule(),
	})
}

func (s *search) schedule() Schedule {
	var list Schedule
	step := 0
	for i := range s.stack {
		d := &s.stack[i]
		switch {
		case d.pick:
			list = append(list, Entry{Kind: Pick, Value: d.at, Label: d.label, Step: step, Default: d.at == 0})
		case d.todo[d.next] < 0:
			list = append(list, Entry{Kind: Leave, Step: d.steps, Default: true})
		default:
			j := d.todo[d.next]
			step = d.steps + 1
			list = append(list,
				Entry{Action: d.actions[j], Step: step, Default: j == 0 && d.actions[j].Class != sim.Fault})
		}
	}
	return list
}

// advance selects the next alternative of the last decision that has one, and removes the decisions after it. It
// returns false if no decision has another alternative.
func (s *search) advance() bool {
	for len(s.stack) > s.base {
		d := &s.stack[len(s.stack)-1]
		if d.pick {
			if d.at++; d.at < d.n {
				s.cover.Transitions++
				return true
			}
		} else {
			if i := d.todo[d.next]; i >= 0 && d.ids[i] != 0 && !s.NoSleep {
				d.asleep[i] = true
			}
			if d.next++; d.next < len(d.todo) {
				s.cover.Transitions++
				return true
			}
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
	return false
}

func (s *search) count() {
	c := s.cover
	c.Finals = len(s.visited.finals)
	c.States = len(s.visited.at) + c.Finals
}
