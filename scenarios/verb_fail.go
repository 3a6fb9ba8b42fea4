package scenarios

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

var failCodes = map[string]host.FailedRequest{
	"409": {Code: 409}, "429": {Code: 429}, "500": {Code: 500},
	"timeout": {Code: 504, Commits: true},
}

var verbFail = &Verb{
	Name: "fail", Args: "PROCESS VERB KIND [nth=N] with=409|429|500|timeout", Min: 3, Max: 3,
	Summary: "make a request of a process fail",
	Detail: `The nth request of that verb on that kind, counted from here, is answered with
the error; without nth the first, with nth=0 every one. timeout: the request is
executed, but the process is told 504.`,
	Example: "fail replicaset create pod nth=2 with=timeout",
	Params: []Param{
		{Name: "nth", Summary: "which one, from 1; 0 for all"},
		{Name: "with", Summary: "the answer", Values: []string{"409", "429", "500", "timeout"}},
	},
	acts: true,
	check: func(c *checker, s *Step) error {
		if _, ok := s.Param("with"); !ok {
			return s.wrong("with is missing: write with=409, 429, 500 or timeout")
		}
		if _, err := s.number("nth", 1); err != nil {
			return err
		}
		if w := s.Word(1); !slices.Contains(writeVerbs, w) {
			return s.wrong("unknown API verb %s%s", w, suggest(w, writeVerbs))
		}
		if _, err := c.kind(s, s.Word(2)); err != nil {
			return err
		}
		return c.process(s, s.Word(0))
	},
	run: func(r *Run, s *Step) error {
		n, err := s.number("nth", 1)
		if err != nil {
			return err
		}
		with, _ := s.Param("with")
		return r.failRequest(s.Word(0), s.Word(1), s.Word(2), n, with)
	},
}

// failRequest makes the nth request of a process with this verb and kind fail with "409", "429", "500" or "timeout".
// nth 0 means every request.
func (r *Run) failRequest(process, verb, kind string, nth int, with string) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	k := r.names().kindNamed(kind)
	f, ok := failCodes[with]
	if k == nil || !ok {
		return r.errorf("cannot fail %s of %s with %s", verb, kind, with)
	}
	return r.act("fail "+process+" "+verb+" "+k.GVK.Kind, func() error {
		for _, p := range ps {
			one := f
			one.Process, one.Verb, one.Kind, one.Nth = p.Name, fakeapi.Verb(verb), k.GVK.Kind, nth
			r.t.Cluster.Fail(one)
		}
		return nil
	})
}

var verbRelist = &Verb{
	Name: "relist", Args: "PROCESS KIND", Min: 2, Max: 2,
	Summary: "break a process's watch of a kind with 410 Gone",
	Detail: `It lists again and never sees the events in between: what vanished meanwhile is
learnt as a tombstone. Hold the view first to make events it misses.`,
	Example: "relist replicaset Pod",
	acts:    true,
	check: func(c *checker, s *Step) error {
		if _, err := c.kind(s, s.Word(1)); err != nil {
			return err
		}
		return c.process(s, s.Word(0))
	},
	run: func(r *Run, s *Step) error { return r.eachView("relist", s.Word(0), s.Word(1), (*host.Process).Relist) },
}
