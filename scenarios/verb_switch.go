package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var verbDuplicate = &Verb{
	Name: "duplicate", Args: "PROCESS[@GENERATION]", Min: 1, Max: 1,
	Summary: "start a second instance of a process's controller",
	Detail: `Both run at once, as in a slow hand-over of leadership. The new process is named
NAME#2.`,
	Example: "duplicate replicaset",
	acts:    true,
	check: func(c *checker, s *Step) error {
		name, generation, _ := strings.Cut(s.Word(0), "@")
		if err := c.process(s, name); err != nil {
			return err
		}
		base := c.started[c.alias(name)]
		if generation != "" {
			if _, what := c.registry.Controller(base + "@" + generation); what != "" {
				return s.wrong("%s", what)
			}
		}
		n := 2
		for slices.Contains(c.processes, base+"#"+strconv.Itoa(n)) {
			n++
		}
		c.start(base+"#"+strconv.Itoa(n), base)
		return nil
	},
	run: func(r *Run, s *Step) error { return r.duplicate(s.Word(0)) },
}

// duplicate starts another instance of a process's controller, of the same
// generation or of the one named behind "@".
func (r *Run) duplicate(process string) error {
	name, generation, _ := strings.Cut(process, "@")
	ps, err := r.processesNamed(name)
	if err != nil {
		return err
	}
	c := ps[0].Controller()
	if generation != "" {
		var what string
		if c, what = r.registry.Controller(c.Name + "@" + generation); what != "" {
			return r.errorf("%s", what)
		}
	}
	return r.start(r.instanceName(c.Name), c)
}

var verbSwitch = &Verb{
	Name: "switch", Args: "PROCESS|all GENERATION", Min: 2, Max: 2,
	Summary: "replace a process's program by another generation",
	Detail: `The process is stopped where it stands and comes up with empty memory and
caches: an upgrade or a downgrade. all switches every process whose controller
has that generation. An instance of the controller manager is switched with all that
it runs, and stands for election anew.`,
	Example: "switch replicaset selector\nswitch all controllerref",
	acts:    true,
	check: func(c *checker, s *Step) error {
		name, generation := s.Word(0), s.Word(1)
		if name == "all" || c.managed() && isManager(name) {
			if all := c.registry.Generations(); !slices.Contains(all, generation) {
				return s.wrong("unknown generation %s%s", generation, suggest(generation, all))
			}
			return nil
		}
		if err := c.process(s, name); err != nil {
			return err
		}
		if _, what := c.registry.Controller(c.started[c.alias(name)] + "@" + generation); what != "" {
			return s.wrong("%s", what)
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.switchTo(s.Word(0), s.Word(1)) },
}

// switchTo replaces the program of a process, of every instance of a controller,
// or of "all", by another generation.
func (r *Run) switchTo(process, generation string) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	next := map[*host.Process]host.Controller{}
	for _, p := range ps {
		if p.Manager() != nil || len(p.Members()) > 0 {
			continue // as a whole
		}
		c, what := r.registry.Controller(p.Controller().Name + "@" + generation)
		if what != "" && process == "all" {
			continue
		}
		if what != "" {
			return r.errorf("%s", what)
		}
		next[p] = r.replacing(c)
	}
	return r.act("switch "+process+" "+generation, func() error {
		for _, p := range ps {
			if len(p.Members()) > 0 {
				r.t.SwitchMembers(p, r.membersIn(p, generation))
			}
			if c, ok := next[p]; ok {
				if what := Unserved(r.t.Server, c); what != "" {
					return r.errorf("%s", what)
				}
				r.t.Switch(p, c)
			}
		}
		r.switched = r.t.World.History.Len()
		return nil
	})
}

var verbDowngrade = &Verb{
	Name: "downgrade-server", Args: "on|off", Min: 1, Max: 1,
	Summary: "let the API server not know the controller field",
	Detail: `While it is on, the server drops the controller field of owner references on
every write, as one from before the field existed.`,
	Example: "downgrade-server on",
	acts:    true,
	check: func(c *checker, s *Step) error {
		if w := s.Word(0); w != "on" && w != "off" {
			return s.wrong("%s is neither on nor off", w)
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.downgradeServer(s.Word(0) == "on") },
}

// downgradeServer switches the server's own generation.
func (r *Run) downgradeServer(on bool) error {
	word, verb := "off", "upgrade"
	if on {
		word, verb = "on", "downgrade"
	}
	return r.act("downgrade-server "+word, func() error {
		r.t.Server.SetDropControllerRefs(on)
		r.switched = r.t.World.History.Len()
		r.t.World.Record(sim.Record{Op: sim.FaultHit, Process: law.Server, Verb: verb})
		return nil
	})
}
