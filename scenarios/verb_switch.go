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
	Name: "duplicate", Args: "PROCESS[@ERA]", Min: 1, Max: 1,
	Summary: "start a second instance of a process's controller",
	Detail: `Both run at once, as in a slow hand-over of leadership. The new process is named
NAME#2.`,
	Example: "duplicate replicaset",
	acts:    true,
	check: func(c *checker, s *Step) error {
		name, era, _ := strings.Cut(s.Word(0), "@")
		if err := c.process(s, name); err != nil {
			return err
		}
		base := c.started[c.alias(name)]
		if era != "" {
			if _, what := c.registry.Controller(base + "@" + era); what != "" {
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

// duplicate starts another instance of a process's controller, of the same era or of the era after "@".
func (r *Run) duplicate(process string) error {
	name, era, _ := strings.Cut(process, "@")
	ps, err := r.processesNamed(name)
	if err != nil {
		return err
	}
	c := ps[0].Controller()
	if era != "" {
		var what string
		if c, what = r.registry.Controller(c.Name + "@" + era); what != "" {
			return r.errorf("%s", what)
		}
	}
	return r.start(r.instanceName(c.Name), c)
}

var verbSwitch = &Verb{
	Name: "switch", Args: "PROCESS|all ERA", Min: 2, Max: 2,
	Summary: "replace a process's program by another era",
	Detail: `The process is stopped where it stands and comes up with empty memory and
caches: an upgrade or a downgrade. all switches every process whose controller
has that generation. An instance of the controller manager is switched with all that
it runs, and stands for election anew.`,
	Example: "switch replicaset selector\nswitch all controllerref",
	acts:    true,
	check: func(c *checker, s *Step) error {
		name, era := s.Word(0), s.Word(1)
		if name == "all" || c.managed() && isManager(name) {
			if all := c.registry.Eras(); !slices.Contains(all, era) {
				return s.wrong("unknown era %s%s", era, suggest(era, all))
			}
			return nil
		}
		if err := c.process(s, name); err != nil {
			return err
		}
		if _, what := c.registry.Controller(c.started[c.alias(name)] + "@" + era); what != "" {
			return s.wrong("%s", what)
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.switchTo(s.Word(0), s.Word(1)) },
}

// switchTo replaces the program of a process, of every instance of a controller, or of "all", by another era.
func (r *Run) switchTo(process, era string) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	next := map[*host.Process]host.Controller{}
	for _, p := range ps {
		if p.Manager() != nil || len(p.Members()) > 0 {
			continue // as a whole
		}
		c, what := r.registry.Controller(p.Controller().Name + "@" + era)
		if what != "" && process == "all" {
			continue
		}
		if what != "" {
			return r.errorf("%s", what)
		}
		next[p] = r.replacing(c)
	}
	return r.act("switch "+process+" "+era, func() error {
		for _, p := range ps {
			if len(p.Members()) > 0 {
				r.t.SwitchMembers(p, r.membersIn(p, era))
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

// downgradeServer switches the server's own era.
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
