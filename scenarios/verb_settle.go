package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

var verbSettle = &Verb{
	Name: "settle", Args: "[quiet] [verbose] [limit=N] [for=DURATION [rest]]", Max: 3,
	Summary: "run until nothing more happens",
	Detail: `Prints the writes and refusals since the last settle, also those of the user. quiet is for
preparation: it prints nothing and always runs in the default schedule. verbose prints
status writes too. limit stops after a number of writes. for stops after a simulated time.
Then laws for settled worlds are not checked, except with rest. With rest, running
reconciles are completed first. If a world runs for very long, or runs without a write, it
does not settle.`,
	Example: "settle\n! settle limit=20",
	Params: []Param{
		{Name: "limit", Summary: "stop after this many writes, without status writes"},
		{Name: "for", Summary: "stop after this simulated time"},
	},
	settles: true,
	check: func(c *checker, s *Step) error {
		for _, w := range s.Words() {
			if !slices.Contains(settleWords, w) {
				return s.wrong("unknown word %s%s", w, suggest(w, settleWords))
			}
		}
		if _, ok := s.Param("for"); s.Has("rest") && !ok {
			return s.wrong("rest is for a settle with for=: any other ends settled or not at all")
		}
		if _, err := s.number("limit", 0); err != nil {
			return err
		}
		_, err := s.duration("for")
		return err
	},
	run: func(r *Run, s *Step) error {
		o := settleOptions{quiet: s.Has("quiet"), verbose: s.Has("verbose"), rest: s.Has("rest")}
		var err error
		if o.limit, err = s.number("limit", 0); err != nil {
			return err
		}
		if o.during, err = s.duration("for"); err != nil {
			return err
		}
		if how := r.settle(o); !how.Settled && !r.course.ended && !how.Broken {
			return s.fail(ExitNotSettled, "%s", strings.TrimSuffix(r.settled.not, "\n"))
		}
		return nil
	},
}

var settleWords = []string{"quiet", "verbose", "rest"}

type settleOptions struct {
	quiet   bool          // the step is part of the set-up: it has the default schedule, and no output
	verbose bool          // show status writes
	limit   int           // stop after this many writes; 0 means a large default
	during  time.Duration // stop after this virtual time; 0 means no limit
	rest    bool          // count the world as settled when the time during has passed
}

// settle runs the world until only faults are enabled, or until a limit is reached.
func (r *Run) settle(o settleOptions) trial.Settling {
	if o.quiet || r.course.choices == nil {
		r.t.World.SetChoices(setup{run: r})
	} else {
		r.explore()
	}
	limits := r.limits(o)
	r.settled = settled{from: r.telling.from, not: r.settled.not}
	how := r.t.Settle(limits)
	if r.course.choices != nil && explore.Ended(r.course.choices) {
		r.course.ended = true
	}
	r.settled.how = how
	if !how.Settled && !r.quiet {
		r.settled.not = r.notSettled(how)
	}
	if !o.quiet && !r.quiet {
		r.printTimeline(how, o.verbose || r.telling.verbose)
	}
	r.barrier()
	return how
}

func (r *Run) limits(o settleOptions) trial.Limits {
	l := trial.Limits{Writes: o.limit, For: o.during, Rest: o.rest}
	failing := func() bool { return r.counting.pending() != nil }
	if r.course.races && !(r.step != nil && r.step.Expect) {
		l.Idle, l.Steps, l.Stop = r.course.idle, r.course.steps, failing
		if l.Idle == 0 {
			l.Idle = maxIdleDrawn
		}
	}
	if keys := r.course.keys; keys != nil {
		l.Recorded = keys.Len()
	}
	if keys := r.course.keys; keys != nil && l.Stop == nil && !o.quiet {
		// A replay that fails ends with its schedule, because the world may never settle.
		l.Stop = func() bool { return keys.Done() && failing() }
	}
	return l
}

// explore makes the world follow the explored choices, and adds the fault budget to it.
func (r *Run) explore() {
	c := &r.course
	r.t.World.SetChoices(c.choices)
	if c.from == 0 {
		c.from = r.t.World.History.Len()
	}
	if len(c.faults) == 0 || c.budgeted {
		return
	}
	if err := r.t.Faults(c.faults); err != nil {
		panic("scenarios: " + err.Error())
	}
	c.budgeted = true
}

// mostShown limits the timeline of a settle that did not end: at most this many lines at its start and at its end.
const mostShown = 60

// printTimeline prints the records since the last call of barrier.
func (r *Run) printTimeline(how trial.Settling, verbose bool) {
	lines := r.telling.lines(&r.counting, r.telling.from, verbose)
	shown := lines
	if !how.Settled {
		if _, last, ok := r.counting.cycle(lines); ok && last < len(lines) {
			shown = lines[:last]
		}
	}
	if n := len(shown); !how.Settled && n > 2*mostShown {
		r.printf("%s  ...\n", render.Text(shown[:mostShown]))
		r.printf("%s", render.Text(shown[n-mostShown:]))
	} else {
		r.printf("%s", render.Text(shown))
	}
	if len(shown) < len(lines) {
		r.printf("  ...\n")
	}
	for _, n := range r.telling.notes {
		r.printf("%s\n", n)
	}
	r.telling.notes = nil
	r.printOthers(lines)
	writes, refusals := render.Counts(lines)
	if how.Settled {
		r.printf("settled at %s after %s\n", how.At, counts(writes, refusals))
		if how.Middle != "" {
			r.printf("not judged: cut off in the middle of %s\n", how.Middle)
		}
		return
	}
	r.printf("%s", r.settled.not)
}

// printOthers prints the violations that are not shown in the timeline: one line for each law, with their number.
func (r *Run) printOthers(lines []render.Line) {
	shown := map[int]bool{}
	for i := range lines {
		for _, rec := range lines[i].Records {
			shown[rec] = true
		}
	}
	var laws []*law.Law
	count, first := map[*law.Law]int{}, map[*law.Law]string{}
	for _, b := range r.t.Judge.Violations() {
		if !r.counting.counts(&b) || b.Record < r.telling.from || shown[b.Record] || len(b.Cycle) > 0 {
			continue
		}
		if count[b.Law]++; count[b.Law] == 1 {
			laws = append(laws, b.Law)
			first[b.Law] = render.MarkOf(b).String()
		}
	}
	for _, l := range laws {
		text := first[l]
		if n := count[l]; n > 1 {
			text = strings.Replace(text, l.Name, fmt.Sprintf("%s x%d", l.Name, n), 1)
		}
		r.printf("%s", render.Fold(text))
	}
}

// notSettled returns the last line of the output of a settle that did not end.
func (r *Run) notSettled(how trial.Settling) string {
	if how.Broken {
		return fmt.Sprintf("stopped after %s: a law is violated\n", plural(how.Writes, "write"))
	}
	lines := r.telling.lines(&r.counting, r.telling.from, false)
	writes, _ := render.Counts(lines)
	text := fmt.Sprintf("not settled after %s", plural(writes, "write"))
	if how.Idle != "" {
		return text + ": " + how.Idle + "\n"
	}
	if first, last, ok := r.counting.cycle(lines); ok {
		verb := "repeat"
		if first == last {
			verb = "repeats"
		}
		text += ": " + render.Span(first, last) + " " + verb
	}
	return text + "\n"
}

func counts(writes, refusals int) string {
	s := plural(writes, "write")
	if refusals > 0 {
		s += ", " + plural(refusals, "refusal")
	}
	return s
}

var verbStep = &Verb{
	Name: "step", Args: "[N | ACTION]", Max: -1,
	Summary: "take one step, N steps, or one action by its key",
	Detail: `Prints the key of each action. ACTION is the key of an action that is possible now, such as
"deliver replicaset Pod". Explored runs skip this step.`,
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

var verbWait = &Verb{
	Name: "wait", Args: "[KIND/NAME...]", Max: -1,
	Summary: "let the user wait a second before the next action, or until objects are gone",
	Detail: `In explored runs, the controllers mostly finish their work in a second. With objects, the user
looks again each second, for at most a minute, until none of them exists. Unlike settle,
wait checks no laws.`,
	Example: "race\ndelete deploy/web --cascade=foreground\nwait deploy/web\napply web.yaml",
	acts:    true,
	check:   func(c *checker, s *Step) error { return c.objects(s) },
	run: func(r *Run, s *Step) error {
		var targets []target
		for _, name := range s.Words() {
			t, err := r.target(name)
			if err != nil {
				return err
			}
			targets = append(targets, t)
		}
		clock := &r.t.World.Clock
		if !r.racing() {
			return r.act("wait", func() error {
				clock.Advance(time.Second)
				return nil
			})
		}
		waited := 0
		over := func() bool {
			if len(targets) == 0 {
				return waited > 0
			}
			return waited == mostWaited || !slices.ContainsFunc(targets, func(t target) bool { return r.lookup(t) != nil })
		}
		r.t.LaterUntil(strings.Join(append([]string{"wait"}, s.Words()...), " "), func() bool {
			if over() {
				return true
			}
			clock.After(time.Second, law.User, "wait", func() {}) // wakes a world that has nothing else to do
			waited++
			return false
		})
		return nil
	},
}

// mostWaited is the number of seconds for which the user waits until objects are gone.
const mostWaited = 60

var verbAdvance = &Verb{
	Name: "advance", Args: "DURATION", Min: 1, Max: 1,
	Summary: "move the simulated clock",
	Detail:  `Timers that are due after this fire in the next settle.`,
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
		return r.act("advance "+d.String(), func() error {
			r.t.World.Clock.Advance(d)
			return nil
		})
	},
}
