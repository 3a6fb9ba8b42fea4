package scenarios

import (
	"slices"
	"strings"
)

var verbSettle = &Verb{
	Name: "settle", Args: "[quiet] [verbose] [limit=N] [for=DURATION [rest]]", Max: 3,
	Summary: "run until nothing more happens",
	Detail: `Prints the writes and refusals since the last settle, those of the user
included. quiet is for set-up: it prints nothing and always runs in the default
schedule. verbose shows status writes too. limit stops after so many writes, for
stops when so much virtual time has passed; the laws on worlds at rest are then
left out, unless rest says that they hold whenever what was begun is done: it
is then finished first. A world that goes on for very long,
or goes on without writing anything, is not settled either.`,
	Example: "settle\n! settle limit=20",
	Params: []Param{
		{Name: "limit", Summary: "stop after so many writes, status writes left out"},
		{Name: "for", Summary: "stop after so much virtual time"},
	},
	settles: true,
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
