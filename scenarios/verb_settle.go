package scenarios

import (
	"fmt"
	"slices"
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
	Detail: `Prints the writes and refusals since the last settle, those of the user
included. quiet is for set-up: it prints nothing and always runs in the default
schedule. verbose shows status writes too. limit stops after so many writes, for
stops when so much virtual time has passed; the laws on worlds at rest are then
left out, unless rest says that what is left to come changes nothing. A world that goes on for very long,
or goes on without writing anything, is not settled either.`,
	Example: "settle\n! settle limit=20",
	Params: []Param{
		{Name: "limit", Summary: "stop after so many writes, status writes left out"},
		{Name: "for", Summary: "stop after so much virtual time"},
	},
	check: func(c *checker, s *Step) error {
		for _, w := range s.Words() {
			if !slices.Contains(settleWords, w) {
				return s.wrong("unknown word %s%s", w, suggest(w, settleWords))
			}
		}
		if _, ok := s.Param("for"); s.Has("rest") && !ok {
			return s.wrong("rest is for a settle with for=: any other ends at rest or not at all")
		}
		if _, err := s.number("limit", 0); err != nil {
			return err
		}
		_, err := s.duration("for")
		return err
	},
	run: func(r *Run, s *Step) error {
		o := SettleOptions{Quiet: s.Has("quiet"), Verbose: s.Has("verbose"), Rest: s.Has("rest")}
		var err error
		if o.Limit, err = s.number("limit", 0); err != nil {
			return err
		}
		if o.For, err = s.duration("for"); err != nil {
			return err
		}
		if how := r.Settle(o); !how.Settled && !r.ended && !how.Broken {
			return s.fail(ExitNotSettled, "%s", strings.TrimSuffix(r.unsettled, "\n"))
		}
		return nil
	},
}

var settleWords = []string{"quiet", "verbose", "rest"}

// maxIdleDrawn is how many steps without a commit an explored run may take, of
// which there are many.
const maxIdleDrawn = 20_000

// SettleOptions say how to settle.
type SettleOptions struct {
	Quiet   bool          // set-up: prints nothing, always in the default schedule
	Verbose bool          // shows status writes too
	Limit   int           // stop after so many writes; 0 for a bound no file should meet
	For     time.Duration // stop after so much virtual time; 0 for none
	Rest    bool          // judge the world as one at rest when that time has passed
}

// Settle runs until nothing but faults can happen, or a limit is reached.
func (r *Run) Settle(o SettleOptions) trial.Settling {
	l := trial.Limits{Writes: o.Limit, For: o.For, Rest: o.Rest}
	if o.Quiet || r.choices == nil {
		r.t.World.SetChoices(sim.Zero{})
	} else {
		r.explore()
	}
	if r.explored && !(r.step != nil && r.step.Expect) {
		l.Idle, l.Steps = r.idle, r.bound
		if l.Idle == 0 {
			l.Idle = maxIdleDrawn
		}
		l.Stop = func() bool { return r.firstBreach(r.broken) != nil }
	}
	if r.keys != nil && l.Stop == nil && !o.Quiet {
		// A recorded run ends where its schedule does: the world may never rest.
		l.Stop = func() bool { return r.keys.Done() && r.firstBreach(r.broken) != nil }
	}
	r.dirty = false
	r.settledFrom = r.from
	how := r.t.Settle(l)
	if r.choices != nil && explore.Ended(r.choices) {
		r.ended = true
	}
	r.settling = how
	if !how.Settled && !r.quiet {
		r.unsettled = r.notSettled(how)
	}
	if !o.Quiet && !r.quiet {
		r.printTimeline(how, o.Verbose || r.Verbose)
	}
	r.barrier()
	return how
}

// explore hands the world over to the choices that are explored, with the
// faults they may take.
func (r *Run) explore() {
	r.t.World.SetChoices(r.choices)
	if r.exploredFrom == 0 {
		r.exploredFrom = r.t.World.History.Len()
	}
	if len(r.faults) == 0 || r.budgeted {
		return
	}
	if err := r.t.Faults(r.faults); err != nil {
		panic("scenarios: " + err.Error())
	}
	r.budgeted = true
}

// mostShown is how many lines are shown of the beginning, and as many of the end,
// of a long settle that does not come to rest.
const mostShown = 60

// printTimeline prints what happened since the last barrier.
func (r *Run) printTimeline(how trial.Settling, verbose bool) {
	lines := r.timeline(r.from, verbose)
	shown := lines
	if !how.Settled {
		if _, last, ok := r.cycle(lines); ok && last < len(lines) {
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
	for _, n := range r.notes {
		r.printf("%s\n", n)
	}
	r.notes = nil
	r.printOthers(lines)
	writes, refusals := render.Counts(lines)
	if how.Settled {
		r.printf("settled at %s after %s\n", how.At, counts(writes, refusals))
		return
	}
	r.printf("%s", r.unsettled)
}

func (r *Run) timeline(from int, verbose bool) []render.Line {
	o := render.Options{From: from, Verbose: verbose}
	first := r.settles == 0
	o.Skip = func(rec *sim.Record) bool {
		return first && rec.Process == "user" && rec.Op == sim.Commit || rec.Op == sim.FaultHit && r.done[rec.Step]
	}
	for _, b := range r.t.Judge.Breaches() {
		if !r.counts(&b) {
			continue
		}
		o.Breaches = append(o.Breaches, render.MarkOf(b))
	}
	return render.Timeline(&r.t.World.History, o)
}

// printOthers lists the broken laws that no line of the timeline shows: one
// line for each law, with how often it was broken.
func (r *Run) printOthers(lines []render.Line) {
	shown := map[int]bool{}
	for i := range lines {
		for _, rec := range lines[i].Records {
			shown[rec] = true
		}
	}
	var laws []*law.Law
	count, first := map[*law.Law]int{}, map[*law.Law]string{}
	for _, b := range r.t.Judge.Breaches() {
		if !r.counts(&b) || b.Record < r.from || shown[b.Record] || len(b.Cycle) > 0 {
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
			text = strings.Replace(text, l.Name, l.Name+" x"+itoa(n), 1)
		}
		r.printf("%s", render.Fold(text))
	}
}

// cycle finds the lines that repeat: as the law found them, or in the lines.
func (r *Run) cycle(lines []render.Line) (first, last int, ok bool) {
	if first, last, ok = render.Cycle(lines); ok {
		return first, last, ok
	}
	bs := r.t.Judge.Breaches()
	for i := len(bs) - 1; i >= 0; i-- {
		if len(bs[i].Cycle) > 0 {
			return render.Numbers(lines, bs[i].Cycle)
		}
	}
	return 0, 0, false
}

// notSettled words the last line of a settle that did not come to rest.
func (r *Run) notSettled(how trial.Settling) string {
	if how.Broken {
		return fmt.Sprintf("stopped after %s: a law is broken\n", plural(how.Writes, "write"))
	}
	lines := r.timeline(r.from, false)
	writes, _ := render.Counts(lines)
	text := fmt.Sprintf("not settled after %s", plural(writes, "write"))
	if how.Idle != "" {
		return text + ": " + how.Idle + "\n"
	}
	if first, last, ok := r.cycle(lines); ok {
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

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
