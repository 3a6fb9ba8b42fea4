package scenarios

var verbControllers = &Verb{
	Name: "controllers", Args: "NAME[@GENERATION]...", Min: 1, Max: -1,
	Summary: "start one process of each controller",
	Detail: `Each process has its own caches, queue and workers, and is named like its
controller. Without a generation the newest one runs. The kinds it works on must be
served: those of a CustomResourceDefinition from the step on that applies it.`,
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
			if what := Unserved(c.server, ctl); what != "" {
				return s.wrong("%s", what)
			}
			c.start(ctl.Name, ctl.Name)
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.startAll(s.Words()) },
}

// startAll starts a process of each controller, "name" or "name@generation".
func (r *Run) startAll(specs []string) error {
	for _, spec := range specs {
		c, what := r.registry.Controller(spec)
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
