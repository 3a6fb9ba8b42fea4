package scenarios

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var writeVerbs = []string{"create", "update", "patch", "delete", "get", "list", "deletecollection"}

var verbCrash = &Verb{
	Name: "crash", Args: "PROCESS [before|after VERB KIND[/NAME]] [back=true]", Min: 1, Max: 4,
	Summary: "kill a process, now or at a request",
	Detail: `With before or after, the process is killed at its next request of this kind. before: the
server does not execute the request. after: the server executes the request, and the
response is lost. The process stays down until restart. With back=true, it restarts by
itself.`,
	Example: "crash replicaset after create pod",
	Params:  []Param{{Name: "back", Summary: "it restarts by itself", Values: []string{"true", "false"}}},
	acts:    true,
	check: func(c *checker, s *Step) error {
		if err := c.process(s, s.Word(0)); err != nil {
			return err
		}
		_, err := s.trap(servers{c.server})
		return err
	},
	run: func(r *Run, s *Step) error {
		t, err := s.trap(r.names())
		if err != nil {
			return err
		}
		back := s.flag("back")
		if t == nil {
			return r.eachProcess("crash "+s.Word(0), s.Word(0), func(p *host.Process) { p.Crash(back) })
		}
		return r.eachProcess("trap "+s.Word(0), s.Word(0), func(p *host.Process) {
			one := *t
			one.Process, one.Back = p.Name, back
			r.t.Set(one)
		})
	},
}

// trap returns the request at which the step "crash" kills the process, or nil if it kills the process at once.
func (s *Step) trap(in servers) (*trial.Trap, error) {
	words := s.Words()[1:]
	if len(words) == 0 {
		return nil, nil
	}
	if words[0] != "before" && words[0] != "after" {
		return nil, s.wrong("unknown word %s%s", words[0], suggest(words[0], []string{"before", "after"}))
	}
	if len(words) != 3 {
		return nil, s.wrong("%s what? write %s VERB KIND or %s VERB KIND/NAME", words[0], words[0], words[0])
	}
	if !slices.Contains(writeVerbs, words[1]) {
		return nil, s.wrong("unknown API verb %s%s", words[1], suggest(words[1], writeVerbs))
	}
	kind, name, _ := strings.Cut(words[2], "/")
	k, err := kindNamed(in, s, kind)
	if err != nil {
		return nil, err
	}
	return &trial.Trap{After: words[0] == "after", Verb: fakeapi.Verb(words[1]), Kind: k, Name: name}, nil
}

// eachProcess calls f for each process that a name selects, such as all instances of a controller, in one user action.
func (r *Run) eachProcess(label, name string, f func(*host.Process)) error {
	ps, err := r.processesNamed(name)
	if err != nil {
		return err
	}
	return r.act(label, func() error {
		for _, p := range ps {
			f(p)
		}
		return nil
	})
}

var verbRestart = &Verb{
	Name: "restart", Args: "PROCESS [from=N|MARK]", Min: 1, Max: 1,
	Summary: "restart a process; if it is running, it crashes first",
	Detail: `The process loses its memory. With from=N, its initial lists return the state of N writes
ago. With from=MARK, they return the state at the step mark MARK. A lagging API server
answers like this.`,
	Example: "restart replicaset from=2",
	Params:  []Param{{Name: "from", Summary: "a number of writes ago, or a mark"}},
	acts:    true,
	check:   func(c *checker, s *Step) error { return c.process(s, s.Word(0)) },
	run: func(r *Run, s *Step) error {
		from, _ := s.Param("from")
		revision, err := r.revision(from)
		if err != nil {
			return err
		}
		return r.eachProcess("restart "+s.Word(0), s.Word(0), func(p *host.Process) { p.Restart(revision()) })
	},
}

func (f *File) restartsStale() bool {
	return slices.ContainsFunc(f.Steps, func(s *Step) bool {
		_, ok := s.Param("from")
		return ok && s.verb == verbRestart
	})
}

// revision parses a revision: a number of writes before the latest one, or the name of a mark. The returned function
// finds the revision at the time of the restart.
func (r *Run) revision(from string) (func() uint64, error) {
	if from == "" {
		return func() uint64 { return 0 }, nil
	}
	if n, err := strconv.ParseUint(from, 10, 32); err == nil {
		return func() uint64 {
			v := r.t.Server.Version()
			return v - min(n, v-min(v, 1))
		}, nil
	}
	if _, ok := r.marks[from]; !ok {
		return nil, r.errorf("from=%s is neither a number of writes nor a mark%s", from,
			suggest(from, slices.Sorted(maps.Keys(r.marks))))
	}
	return func() uint64 { return r.marks[from] }, nil
}

var verbMark = &Verb{
	Name: "mark", Args: "NAME", Min: 1, Max: 1,
	Summary: "remember the state of the server for restart from=NAME",
	Detail:  `This step changes nothing in the cluster.`,
	Example: "mark before\nrestart replicaset from=before",
	acts:    true,
	run: func(r *Run, s *Step) error {
		mark := func() error {
			r.marks[s.Word(0)] = r.t.Server.Version()
			return nil
		}
		_ = mark() // later steps need the name; an action that races sets the mark again
		return r.act("mark "+s.Word(0), mark)
	},
}

var failCodes = map[string]host.FailedRequest{
	"409": {Code: 409}, "429": {Code: 429}, "500": {Code: 500},
	"timeout": {Code: 504, Commits: true},
}

var verbFail = &Verb{
	Name: "fail", Args: "PROCESS VERB KIND [nth=N] with=409|429|500|timeout", Min: 3, Max: 3,
	Summary: "make a request of a process fail",
	Detail: `The nth request with this verb and kind after this step gets the error. The default is 1,
and nth=0 means every request. timeout: the server executes the request and answers 504.`,
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
		k, err := kindNamed(r.names(), s, s.Word(2))
		if err != nil {
			return err
		}
		with, _ := s.Param("with")
		return r.eachProcess("fail "+s.Word(0)+" "+s.Word(1)+" "+k.GVK.Kind, s.Word(0), func(p *host.Process) {
			one := failCodes[with]
			one.Process, one.Verb, one.Kind, one.Nth = p.Name, fakeapi.Verb(s.Word(1)), k.GVK.Kind, n
			r.t.Cluster.Fail(one)
		})
	},
}

var verbRelist = &Verb{
	Name: "relist", Args: "PROCESS KIND", Min: 2, Max: 2,
	Summary: "break a process's watch of a kind with 410 Gone",
	Detail: `The process lists again. It misses the events between the last event and the list. For
deleted objects it gets tombstones. To make it miss events, pause the watch with hold
first.`,
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

var verbHold = &Verb{
	Name: "hold", Args: "PROCESS sees=KIND", Min: 1, Max: 1,
	Summary: "pause a process's watch of one kind",
	Detail: `Watch events of this kind wait until release. Live reads return the current state. The name
of a controller means all its instances. NAME#2 is the second instance.`,
	Example: "hold replicaset sees=Pod",
	Params:  []Param{{Name: "sees", Summary: "the kind"}},
	acts:    true,
	check: func(c *checker, s *Step) error {
		if _, ok := s.Param("sees"); !ok {
			return s.wrong("sees is missing: write sees=KIND")
		}
		return checkSees(c, s)
	},
	run: func(r *Run, s *Step) error {
		kind, _ := s.Param("sees")
		return r.eachView("hold", s.Word(0), kind, (*host.Process).Hold)
	},
}

var verbRelease = &Verb{
	Name: "release", Args: "PROCESS [sees=KIND]", Min: 1, Max: 1,
	Summary: "resume a paused watch",
	Detail:  `Without a kind, all paused watches of the process are resumed.`,
	Example: "release replicaset",
	Params:  []Param{{Name: "sees", Summary: "the kind; all without it"}},
	acts:    true,
	check:   checkSees,
	run: func(r *Run, s *Step) error {
		if kind, ok := s.Param("sees"); ok {
			return r.eachView("release", s.Word(0), kind, (*host.Process).Release)
		}
		return r.eachProcess("release "+s.Word(0), s.Word(0), func(p *host.Process) {
			for _, k := range p.Watches() {
				p.Release(k)
			}
		})
	},
}

func checkSees(c *checker, s *Step) error {
	if v, ok := s.Param("sees"); ok {
		if _, err := c.kind(s, v); err != nil {
			return err
		}
	}
	return c.process(s, s.Word(0))
}

// eachView calls f for each process that a name selects, with the version of the kind that the process watches.
func (r *Run) eachView(verb, process, kind string, f func(*host.Process, *fakeapi.Kind) bool) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	k, err := kindNamed(r.names(), r.at(), kind)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if _, err := r.watched(p, k); err != nil {
			return err
		}
	}
	return r.act(verb+" "+process+" "+k.GVK.Kind, func() error {
		for _, p := range ps {
			if w, err := r.watched(p, k); err == nil {
				f(p, w)
			}
		}
		return nil
	})
}

// watched returns the version of a kind that a process watches.
func (r *Run) watched(p *host.Process, k *fakeapi.Kind) (*fakeapi.Kind, error) {
	var kinds []string
	var other *fakeapi.Kind
	for _, w := range p.Watches() {
		if w.GVK == k.GVK {
			return w, nil
		}
		if w.GVK.GroupKind() == k.GVK.GroupKind() {
			other = w
		}
		kinds = append(kinds, w.GVK.Kind)
	}
	if other != nil {
		return other, nil
	}
	return nil, r.errorf("%s does not watch %s%s", p.Name, k.GVK.Kind, suggest(k.GVK.Kind, kinds))
}
