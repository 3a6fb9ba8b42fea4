package scenarios

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/sim/host"
)

// managerName is the name of the controller manager's instances.
const managerName = "manager"

var verbManagers = &Verb{
	Name: "managers", Args: "NAME[@ERA]... [count=N]", Min: 1, Max: -1, Listed: true,
	Summary: "start instances of the controller manager, of which one leads",
	Detail: `Each instance stands for election by the Lease kube-system/kube-controller-manager,
and runs the controllers of the list (see controllers) while it holds it. The first is
the process manager#1, and its controllers are processes NAME#1, and so on; a name without
a number means all of them. An instance is killed and switched as a whole.`,
	Example: "managers replicaset replication\nswitch manager#2 selector",
	Params:  []Param{{Name: "count", Summary: "how many instances; 2 unless given"}},
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
			if err := r.startManager(i, chosen); err != nil {
				return err
			}
		}
		return nil
	},
}

// instance returns the name of the i-th process of a name.
func instance(name string, i int) string { return fmt.Sprintf("%s#%d", name, i+1) }

func (r *Run) startManager(i int, chosen []host.Controller) error {
	var members []host.Member
	for _, c := range chosen {
		members = append(members, host.Member{Name: instance(c.Name, i), Controller: r.replacing(c)})
	}
	name := instance(managerName, i)
	return r.act("start "+name, func() error {
		candidate := func(lead func(bool)) host.Controller { return r.registry.Candidate(name, lead) }
		r.t.StartManager(name, candidate, members)
		return nil
	})
}

// managed reports whether the controller manager runs.
func (c *checker) managed() bool { return c.started[instance(managerName, 0)] != "" }

// isManager reports whether a process has the name of a controller manager instance.
func isManager(process string) bool {
	base, _, _ := strings.Cut(process, "#")
	return base == managerName
}

// membersIn returns a manager's controllers in another era. Controllers without that era stay as they are.
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
