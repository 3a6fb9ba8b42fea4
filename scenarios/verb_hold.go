package scenarios

import (
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

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
