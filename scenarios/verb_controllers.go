package scenarios

var verbControllers = &Verb{
	Name: "controllers", Args: "NAME[@ERA]...", Min: 1, Max: -1, Listed: true,
	Summary: "start one process of each controller",
	Detail: `Each process has its own caches, queue and workers, and is named like its
controller. Without a generation the newest one runs. The kinds it works on must be
served: those of a CustomResourceDefinition from the step on that applies it. The list
is as kube-controller-manager has it: * is all that it starts unless told otherwise,
all is every controller there is (a kubelet, too), -NAME leaves one out of these, and
its names are names here. *@GENERATION is each in that generation where there is one.
Commas part the names as spaces do.`,
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
	run: func(r *Run, s *Step) error { return r.startAll(s.Words()) },
}

// startAll starts a process for each controller that a list selects.
func (r *Run) startAll(specs []string) error {
	chosen, what := r.registry.Choose(specs)
	if what != "" {
		return r.errorf("%s", what)
	}
	for _, c := range chosen {
		if r.t.Cluster.Process(c.Name) != nil {
			return r.errorf("%s runs already; start a second instance with duplicate", c.Name)
		}
		if err := r.start(c.Name, c); err != nil {
			return err
		}
	}
	return nil
}
