package scenarios

import (
	"fmt"

	"github.com/threelaws/threelaws/sim/host"
)

var verbControllers = &Verb{
	Name: "controllers", Args: "NAME[@GENERATION]...", Min: 1, Max: -1,
	Summary: "start one process of each controller",
	Detail: `Each process has its own caches, queue and workers, and is named like its
controller. Without a generation the newest one runs.`,
	Example: "controllers replicaset@controllerref garbagecollector",
	acts:    true,
	check: func(c *checker, s *Step) error {
		for _, spec := range s.Words() {
			ctl, what := c.registry.Controller(spec)
			if what != "" {
				return s.wrong("%s", what)
			}
			if c.started[ctl.Name] != "" {
				return s.wrong("%s runs already; start a second instance with duplicate", ctl.Name)
			}
			c.start(ctl.Name, ctl.Name)
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.Controllers(s.Words()...) },
}

// Controllers starts a process of each controller, "name" or "name@generation".
func (r *Run) Controllers(specs ...string) error {
	for _, spec := range specs {
		c, what := r.Registry.Controller(spec)
		if what != "" {
			return r.errorf("%s", what)
		}
		if r.t.Cluster.Process(c.Name) != nil {
			return r.errorf("%s runs already; start a second instance with duplicate", c.Name)
		}
		if err := r.start(c.Name, c); err != nil {
			return err
		}
	}
	return nil
}

// start starts a process, or the mutant of its controller.
func (r *Run) start(process string, c host.Controller) error {
	c = r.replacing(c)
	return r.act("start "+process, func() error {
		r.t.Start(process, c)
		return nil
	})
}

// replacing returns what runs instead of a controller. A mutant stands in for
// its own generation only.
func (r *Run) replacing(c host.Controller) host.Controller {
	if m, ok := r.replace[c.Name]; ok && (m.Generation == c.Generation || m.Generation == "") {
		return m
	}
	return c
}

// instanceName names the next instance of a process.
func (r *Run) instanceName(base string) string {
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s#%d", base, n); r.t.Cluster.Process(name) == nil {
			return name
		}
	}
}
