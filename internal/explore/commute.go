package explore

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// Conflict reports a wrong footprint: two actions were declared independent, but swapping them changes the state.
type Conflict struct {
	Seed          uint64
	Step          int // steps taken before the pair
	First, Second string
	Why           string
}

func (c *Conflict) Error() string {
	return fmt.Sprintf("seed %d, after step %d: %q and %q were declared independent: %s",
		c.Seed, c.Step, c.First, c.Second, c.Why)
}

// Commute tests the footprints that [Exhaust] relies on. In each of several uniform runs it picks two enabled actions
// that are declared independent, executes them in both orders, and compares the states. It returns the number of
// compared pairs and the first [*Conflict].
func Commute(p Runner, runs int, seed uint64) (pairs int, err error) {
	for i := range runs {
		s := SeedAt(seed, i)
		scout := &swap{seed: sim.NewSeed(s), draw: sim.NewSeed(sim.Mix(s))}
		p(scout)
		if scout.at == 0 {
			continue
		}
		var ends [2]*swap
		for order := range ends {
			w := &swap{seed: sim.NewSeed(s), at: scout.at, pair: scout.pair, replay: true}
			if order == 1 {
				w.pair[0], w.pair[1] = w.pair[1], w.pair[0]
			}
			if out := p(w); !w.ended {
				w.missing = out.Settled && w.calls == w.at // after the first action of the pair, no action was enabled
				w.state, w.short = out.State, !out.Settled || len(out.Findings) > 0
			}
			ends[order] = w
		}
		if ends[0].short || ends[1].short {
			continue
		}
		pairs++
		if c := compareOrders(ends[0], ends[1]); c != nil {
			c.Seed = s
			return pairs, c
		}
	}
	return pairs, nil
}

func compareOrders(a, b *swap) *Conflict {
	why := ""
	switch {
	case a.missing || b.missing:
		why = "one disables the other"
	case a.state != b.state:
		why = "the states differ"
	default:
		return nil
	}
	return &Conflict{Step: a.steps, First: a.pair[0].Key(), Second: a.pair[1].Key(), Why: why}
}

// swap is the source of choices for Commute. The first run follows the uniform schedule of the seed, and picks one pair
// of independent actions, each with the same probability. A replay takes these two actions in the order of the field
// pair, and then ends the run.
type swap struct {
	seed    *sim.Seed
	draw    *sim.Seed
	replay  bool
	calls   int // number of calls of Next so far
	met     int // number of pairs seen so far in the first run
	at      int // the pair is enabled at this call of Next, from 1; 0 if no pair was found
	pair    [2]sim.Action
	steps   int
	missing bool
	ended   bool
	short   bool // the program ended the run, possibly before both actions were taken
	state   uint64
}

// ComparesStates returns true, because the states after the pair are compared.
func (s *swap) ComparesStates() bool { return true }

// Ended reports whether swap ended the run: after the pair, or because an action of the pair was not enabled.
func (s *swap) Ended() bool { return s.ended }

// Pick draws uniformly. From the pair on it returns 0, because the two orders would draw different values.
func (s *swap) Pick(n int, label string) int {
	if s.replay && s.calls >= s.at {
		return 0
	}
	return s.seed.Pick(n, label)
}

// Next follows the seed until the pair is enabled, and then takes the two actions of the pair.
func (s *swap) Next(w *sim.World, enabled []sim.Action) int {
	s.calls++
	switch {
	case !s.replay:
		s.look(w, enabled)
	case s.ended:
		return -1
	case s.calls == s.at || s.calls == s.at+1:
		if s.calls == s.at {
			s.steps = w.Steps()
		}
		return s.take(w, enabled, s.pair[s.calls-s.at])
	case s.calls > s.at:
		s.state, s.ended = w.StateHash(), true
		return -1
	}
	return w.Draw(s.seed, enabled)
}

func (s *swap) take(w *sim.World, enabled []sim.Action, a sim.Action) int {
	for i := range enabled {
		if enabled[i].Same(a) {
			return i
		}
	}
	s.missing, s.ended = true, true
	return -1
}

// look picks a pair of enabled independent actions. Over the whole run, each pair has the same probability.
func (s *swap) look(w *sim.World, enabled []sim.Action) {
	for i, a := range enabled {
		f := w.Footprint(a)
		for _, b := range enabled[i+1:] {
			if a.Same(b) || !f.Independent(w.Footprint(b)) {
				continue
			}
			s.met++
			if s.draw.Pick(s.met, "pair") == 0 {
				s.at, s.pair = s.calls, [2]sim.Action{a, b}
			}
		}
	}
}
