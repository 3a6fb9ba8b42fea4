package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var verbControllers = &Verb{
	Name: "controllers", Args: "NAME[@ERA]...", Min: 1, Max: -1, Listed: true,
	Summary: "start one process of each controller",
	Detail: `Each process has its own caches, queue and workers, and the name of its controller.
Without an era, the newest era runs. Spaces or commas separate the names. The names of
kube-controller-manager work too. * means every controller that kube-controller-manager
starts by default, and all means every controller, with the kubelet. -NAME excludes a
controller from * or all. *@ERA selects this era for the controllers that have it. If a
controller needs a custom resource, apply its CustomResourceDefinition before this step.`,
	Example: "controllers replicaset@controllerref garbagecollector\ncontrollers *,-job kubelet",
	acts:    true,
	check: func(c *checker, s *Step) error {
		chosen, what := c.registry.Choose(s.Words())
		if what != "" {
			return s.wrong("%s", what)
		}
		for _, ctl := range chosen {
			if c.started[ctl.Name] != "" {
				return s.wrong("%s runs already; start a second instance with duplicate", ctl.Name)
			}
			if what := Unserved(c.server, ctl); what != "" {
				return s.wrong("%s", what)
			}
			c.start(ctl.Name, ctl.Name)
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		chosen, what := r.registry.Choose(s.Words())
		if what != "" {
			return s.wrong("%s", what)
		}
		for _, c := range chosen {
			if err := r.start(c.Name, c); err != nil {
				return err
			}
		}
		return nil
	},
}

const managerName = "manager"

var verbManagers = &Verb{
	Name: "managers", Args: "NAME[@ERA]... [count=N]", Min: 1, Max: -1, Listed: true,
	Summary: "start instances of the controller manager with leader election",
	Detail: `The instances elect a leader with the Lease kube-system/kube-controller-manager. The
leader runs the controllers of the list, which is described at the verb controllers. The
first instance is the process manager#1, and its controllers are processes such as
replicaset#1. A name without a number means the processes of all instances. The verbs
crash and switch apply to an instance with all its controllers.`,
	Example: "managers replicaset replication\nswitch manager#2 selector",
	Params:  []Param{{Name: "count", Summary: "number of instances; the default is 2"}},
	acts:    true,
	check: func(c *checker, s *Step) error {
		n, err := s.number("count", 2)
		if err != nil {
			return err
		}
		chosen, what := c.registry.Choose(s.Words())
		if what == "" && c.registry.Candidate == nil {
			what = "there is no leader election in this registry"
		}
		if what == "" && c.managed() {
			what = "the controller manager runs already"
		}
		for i := 0; i < len(chosen) && what == ""; i++ {
			what = Unserved(c.server, chosen[i])
		}
		if what != "" {
			return s.wrong("%s", what)
		}
		for i := range n {
			c.start(instance(managerName, i), managerName)
			for _, ctl := range chosen {
				c.start(instance(ctl.Name, i), ctl.Name)
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		n, err := s.number("count", 2)
		if err != nil {
			return err
		}
		chosen, what := r.registry.Choose(s.Words())
		if what != "" {
			return r.errorf("%s", what)
		}
		for i := range n {
			name := instance(managerName, i)
			var members []host.Member
			for _, c := range chosen {
				members = append(members, host.Member{Name: instance(c.Name, i), Controller: r.replacing(c)})
			}
			candidate := func(lead func(bool)) host.Controller { return r.registry.Candidate(name, lead) }
			err := r.act("start "+name, func() error {
				r.t.StartManager(name, candidate, members)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	},
}

func instance(name string, i int) string { return fmt.Sprintf("%s#%d", name, i+1) }

func (c *checker) managed() bool { return c.started[instance(managerName, 0)] != "" }

func isManager(process string) bool {
	base, _, _ := strings.Cut(process, "#")
	return base == managerName
}

// membersIn returns a manager's controllers in another era. A controller without that era is returned unchanged.
func (r *Run) membersIn(p *host.Process, era string) []host.Controller {
	var programs []host.Controller
	for _, m := range p.Members() {
		c, what := r.registry.Controller(m.Controller().Name + "@" + era)
		if what != "" {
			c = m.Controller()
		}
		programs = append(programs, r.replacing(c))
	}
	return programs
}

var verbDuplicate = &Verb{
	Name: "duplicate", Args: "PROCESS[@ERA]", Min: 1, Max: 1,
	Summary: "start a second instance of a process's controller",
	Detail: `Both instances run at the same time, as after a slow change of the leader. The new
process has the name NAME#2.`,
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
	run: func(r *Run, s *Step) error {
		name, era, _ := strings.Cut(s.Word(0), "@")
		ps, err := r.processesNamed(name)
		if err != nil {
			return err
		}
		c := ps[0].Controller()
		if era != "" {
			var what string
			if c, what = r.registry.Controller(c.Name + "@" + era); what != "" {
				return s.wrong("%s", what)
			}
		}
		return r.start(r.instanceName(c.Name), c)
	},
}

var verbSwitch = &Verb{
	Name: "switch", Args: "PROCESS|all ERA", Min: 2, Max: 2,
	Summary: "replace a process's program by another era",
	Detail: `The process stops and restarts in the new era, with empty memory and caches. This
simulates an upgrade or a downgrade. all switches every process whose controller has this
era. If an instance of the controller manager is switched, all its controllers are switched,
and the instance takes part in a new election.`,
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

// switchTo switches a process to another era. It can also switch all instances of a controller, or "all" processes.
func (r *Run) switchTo(process, era string) error {
	ps, err := r.processesNamed(process)
	if err != nil {
		return err
	}
	next := map[*host.Process]host.Controller{}
	for _, p := range ps {
		if p.Manager() != nil || len(p.Members()) > 0 {
			continue // the manager is switched below, with all its members
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
	Summary: "make the API server drop the controller field",
	Detail: `While this is on, the server drops the controller field of owner references on every
write, like a server version that does not know this field.`,
	Example: "downgrade-server on",
	acts:    true,
	check: func(c *checker, s *Step) error {
		if w := s.Word(0); w != "on" && w != "off" {
			return s.wrong("%s is neither on nor off", w)
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		on := s.Word(0) == "on"
		verb := map[bool]string{true: "downgrade", false: "upgrade"}[on]
		return r.act("downgrade-server "+s.Word(0), func() error {
			r.t.Server.SetDropControllerRefs(on)
			r.switched = r.t.World.History.Len()
			r.t.World.Record(sim.Record{Op: sim.FaultHit, Process: law.Server, Verb: verb})
			return nil
		})
	},
}
