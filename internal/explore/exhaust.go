package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// Exhaust enumerates every behaviour of a program, up to the equivalences the
// package comment names.
type Exhaust struct {
	Program Program

	MaxSteps  int  // of one run, those before the first choice included; 0 means 10,000
	MaxStates int  // 0 means no bound
	MaxRuns   int  // 0 means no bound
	All       bool // goes on after the first violation; each run still ends at its first violation

	// CommutingWrites takes writes to different kinds for independent where
	// their footprints say so. The states reached are the same, but a law that
	// relates two kinds ("no Pod is created for a ReplicaSet that is gone")
	// then sees only one of the two orders; by default it sees both.
	CommutingWrites bool

	// Early bounds how many timers of one run fire while something else than a
	// fault could happen. With 0, time passes only when nothing else can; a
	// negative number means no bound.
	Early int

	// Fixed is what the program itself does not vary, for the report.
	Fixed []string

	NoHashing bool // follows states again when they recur; a world with cycles then meets MaxSteps
	NoSleep   bool // follows every order of independent actions

	// Shard is the part of the search that is done, counted from 0, of Shards parts; see [search.split].
	Shard, Shards int
	partsEach     int // for tests

	// Due, if set, is asked after each run whether to call Save. Save gets what the search needs to continue, and the
	// coverage so far. It is also called at the end. An error ends the search.
	Due    func() bool
	Save   func(m *Mark, c *Coverage) error
	Resume *Mark // where an earlier search was, with all of its Table; nil for the start

	Stop     func() string   // asked before each run; a reason ends the search
	Progress func(*Coverage) // told after every 1,024 runs; the numbers so far
}

const progressEvery = 1024

// Undigested is something whose state cannot be digested, so that a search can't
// tell which states it has met: an actor or an observer that is no
// [sim.Digester], or a part of one.
type Undigested struct{ Name string }

func (u *Undigested) Error() string {
	return u.Name +
		" cannot digest its state, so states cannot be compared: give it a Digest, or search without hashing"
}

// Run searches. The error says that the program is no function of its choices
// ([Disagreement]), that a footprint is wrong ([Dependence]), or that states
// cannot be compared ([Undigested]); the coverage reached is returned all the same.
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

// explore follows everything behind the stack's base. It reports false if the search ends before.
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

// search is the state of a depth-first search. It is the source of choices of
// every run: it replays the decisions on the stack, then makes new ones.
type search struct {
	Exhaust
	visited *visited
	cover   *Coverage
	err     error

	item   int // of the part of the search
	before int // runs of the processes before this one
	base   int // how many decisions of the stack stay as they are
	limit  int // split: the number of decisions after which a part begins; 0 otherwise
	parts  [][]decision

	stack []decision // grows and shrinks; what lies beyond its end is reused
	pos   int        // decisions replayed or made in this run
	last  int        // place of the run's last decision about an action, -1 for none
	taken int        // actions taken in this run
	left  int        // times it was left at that in this run
	early int        // timers that fired early in this run
	ended bool

	sleep []uint64 // scratch: what is asleep where the run is now
}

// decision is one node of the search: a choice that was met, and which of its
// alternatives is being explored.
type decision struct {
	pick  bool
	n, at int // pick: how many alternatives, and which
	label string

	state   uint64
	steps   int // World.Steps
	actions []sim.Action
	ids     []uint64 // identities of the actions, 0 where two have the same key
	feet    []sim.Footprint
	asleep  []bool
	todo    []int // places in actions; -1 is to leave it at that
	next    int   // the place in todo being explored
	loaded  bool  // from a mark: actions and footprints are not known yet
}

// ComparesStates says that states are compared: while a run goes, or its last one.
func (s *search) ComparesStates() bool { return true }

// Ended reports whether the search ended the run.
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

// Pick enumerates a choice that is not one of actions.
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

// Next replays the decision on the stack, or makes a new one.
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

// diverged ends a run that does not do what the run before it did.
func (s *search) diverged(second string) {
	d := &s.stack[s.pos]
	first := fmt.Sprintf("pick 0..%d %s", d.n-1, d.label)
	if !d.pick {
		first = fmt.Sprint(keysOf(d.actions))
	}
	s.err = &Disagreement{Index: s.cover.Runs, Step: s.taken + 1, First: first, Second: second}
	s.ended = true
}

// push grows the stack by one decision, with the memory of one that was there.
func (s *search) push() *decision {
	if len(s.stack) < cap(s.stack) {
		s.stack = s.stack[:len(s.stack)+1]
	} else {
		s.stack = append(s.stack, decision{})
	}
	return &s.stack[len(s.stack)-1]
}

// end takes in what a run came to.
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
		c.stop("a run met the program's own bound")
		if c.Livelocks++; c.Livelock == "" {
			c.Livelock = fmt.Sprintf("a run did not settle in %d steps", out.Steps)
		}
	}
}

// wasLeft reports whether the run ended where it was left at that: in a state
// that was counted when the decision was made.
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

// schedule renders the stack.
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

// advance moves the deepest decision that has one on to its next alternative.
// It reports false when there is none left.
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
