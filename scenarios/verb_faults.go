package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var writeVerbs = []string{"create", "update", "patch", "delete", "get", "list", "deletecollection"}

var verbCrash = &Verb{
	Name: "crash", Args: "PROCESS [before|after VERB KIND[/NAME]] [back=true]", Min: 1, Max: 4,
	Summary: "kill a process, now or at its next such request",
	Detail: `before: the request was sent and is never executed. after: it was executed and
its response is lost. The process stays down until restart; with back=true it
comes up again by itself.`,
	Example: "crash replicaset after create pod",
	Params:  []Param{{Name: "back", Summary: "it comes up again by itself", Values: []string{"true", "false"}}},
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
			return r.crash(s.Word(0), back)
		}
		t.Back = back
		return r.setTrap(s.Word(0), t)
	},
}

// trap reads "before|after VERB KIND[/NAME]"; it returns nil if that is absent.
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

// crash kills a process at once.
func (r *Run) crash(process string, back bool) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	return r.act("crash "+process, func() error {
		for _, p := range ps {
			p.Crash(back)
		}
		return nil
	})
}

func (r *Run) setTrap(process string, t *trial.Trap) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	return r.act("trap "+process, func() error {
		for _, p := range ps {
			one := *t
			one.Process = p.Name
			r.t.Set(one)
		}
		return nil
	})
}

var verbRestart = &Verb{
	Name: "restart", Args: "PROCESS [from=N|MARK]", Min: 1, Max: 1,
	Summary: "start a process anew, crashing it first if it runs",
	Detail: `Whatever it remembered is lost. from=N reads its initial lists as they were N
writes ago, from=MARK as they were at mark MARK: what a lagging API server
answers.`,
	Example: "restart replicaset from=2",
	Params:  []Param{{Name: "from", Summary: "so many writes ago, or a mark"}},
	acts:    true,
	check:   func(c *checker, s *Step) error { return c.process(s, s.Word(0)) },
	run: func(r *Run, s *Step) error {
		from, _ := s.Param("from")
		return r.restart(s.Word(0), from)
	},
}

// restartsStale reports whether a step starts a process from an older state.
func (f *File) restartsStale() bool {
	return slices.ContainsFunc(f.Steps, func(s *Step) bool {
		_, ok := s.Param("from")
		return ok && s.verb == verbRestart
	})
}

// restart starts a process again. from is "", a number of writes ago, or a mark.
func (r *Run) restart(process, from string) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	revision, err := r.revision(from)
	if err != nil {
		return err
	}
	return r.act("restart "+process, func() error {
		for _, p := range ps {
			p.Restart(revision())
		}
		return nil
	})
}

// revision reads "N" or a mark. It is resolved when the restart happens.
func (r *Run) revision(from string) (func() uint64, error) {
	if from == "" {
		return func() uint64 { return 0 }, nil
	}
	if n, ok := parseUint(from); ok {
		return func() uint64 {
			v := r.t.Server.Version()
			return v - min(n, v-min(v, 1))
		}, nil
	}
	if _, ok := r.marks[from]; !ok {
		var names []string
		for name := range r.marks {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, r.errorf("from=%s is neither a number of writes nor a mark%s", from, suggest(from, names))
	}
	return func() uint64 { return r.marks[from] }, nil
}

func parseUint(s string) (uint64, bool) {
	var n uint64
	for _, c := range s {
		if c < '0' || c > '9' || n > 1<<40 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, s != ""
}

var verbMark = &Verb{
	Name: "mark", Args: "NAME", Min: 1, Max: 1,
	Summary: "remember the state of the server for restart from=NAME",
	Detail:  `Nothing changes.`,
	Example: "mark before\nrestart replicaset from=before",
	acts:    true,
	run:     func(r *Run, s *Step) error { return r.mark(s.Word(0)) },
}

// mark stores the server's current revision under a name.
func (r *Run) mark(name string) error {
	r.marks[name] = r.t.Server.Version()
	return r.act("mark "+name, func() error {
		r.marks[name] = r.t.Server.Version()
		return nil
	})
}

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

var verbHold = &Verb{
	Name: "hold", Args: "PROCESS sees=KIND", Min: 1, Max: 1,
	Summary: "freeze a process's view of one kind",
	Detail: `Events of that kind wait until release; what the process reads live is current.
The name of a controller means all its instances, NAME#2 the second one.`,
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
	Summary: "let the events that wait be delivered",
	Detail:  `Without a kind, everything that is held is released.`,
	Example: "release replicaset",
	Params:  []Param{{Name: "sees", Summary: "the kind; all of them without it"}},
	acts:    true,
	check:   checkSees,
	run: func(r *Run, s *Step) error {
		kind, _ := s.Param("sees")
		return r.release(s.Word(0), kind)
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

// release resumes a paused watch; without a kind, all paused watches of the process.
func (r *Run) release(process, kind string) error {
	if kind != "" {
		return r.eachView("release", process, kind, (*host.Process).Release)
	}
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	return r.act("release "+process, func() error {
		for _, p := range ps {
			for _, k := range p.Watches() {
				p.Release(k)
			}
		}
		return nil
	})
}

// eachView calls f with one kind's watch of every process of a name.
func (r *Run) eachView(verb, process, kind string, f func(*host.Process, *fakeapi.Kind) bool) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	k := r.names().kindNamed(kind)
	if k == nil {
		return r.errorf("unknown kind %s", kind)
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

// watched returns the kind as a process watches it, in its version.
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
