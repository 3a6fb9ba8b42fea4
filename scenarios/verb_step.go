package scenarios

import (
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

var verbStep = &Verb{
	Name: "step", Args: "[N | ACTION]", Max: -1,
	Summary: "take one step, N steps, or one action by its key",
	Detail: `Prints the keys of the actions taken. With an action's key, such as
"deliver replicaset Pod", that action is taken; it must be enabled. Explored
runs leave this verb out.`,
	Example: "step 3\nstep deliver replicaset Pod",
	run: func(r *Run, s *Step) error {
		if r.course.races {
			return nil
		}
		words := s.Words()
		if len(words) == 0 {
			return r.takeSteps(1)
		}
		if n, err := strconv.Atoi(words[0]); err == nil && len(words) == 1 {
			return r.takeSteps(n)
		}
		return r.takeAction(strings.Join(words, " "))
	},
}

// takeSteps takes up to n steps of the default schedule.
func (r *Run) takeSteps(n int) error {
	r.t.World.SetChoices(sim.Zero{})
	for range n {
		e := r.t.World.Enabled()
		if len(e) == 0 || e[0].Class == sim.Fault {
			r.printf("(nothing is enabled)\n")
			return nil
		}
		key := e[0].Key()
		r.t.Step()
		r.printf("%s\n", key)
	}
	return nil
}

// takeAction takes the enabled action with this key.
func (r *Run) takeAction(key string) error {
	want, ok := sim.ParseKey(key)
	if !ok {
		return r.errorf("%q is not an action: write \"CLASS ACTOR DETAIL\", such as \"deliver replicaset Pod\"", key)
	}
	var keys []string
	for _, a := range r.t.World.Enabled() {
		if a.Same(want) {
			r.t.Take(a)
			r.printf("%s\n", key)
			return nil
		}
		keys = append(keys, a.Key())
	}
	return r.at().fail(ExitFail, "%q is not enabled here%s", key, suggest(key, keys))
}

var verbAdvance = &Verb{
	Name: "advance", Args: "DURATION", Min: 1, Max: 1,
	Summary: "move the virtual clock",
	Detail:  `Timers that became due fire in the next settle.`,
	Example: "advance 30s",
	acts:    true,
	check: func(c *checker, s *Step) error {
		_, err := s.parseDuration(s.Word(0))
		return err
	},
	run: func(r *Run, s *Step) error {
		d, err := s.parseDuration(s.Word(0))
		if err != nil {
			return err
		}
		return r.advance(d)
	},
}

// advance moves the virtual clock.
func (r *Run) advance(d time.Duration) error {
	return r.act("advance "+d.String(), func() error {
		r.t.World.Clock.Advance(d)
		return nil
	})
}
