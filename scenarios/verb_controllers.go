package scenarios

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

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
		if what := Unserved(r.t.Server, c); what != "" {
			return r.errorf("%s", what)
		}
		r.t.Start(process, c)
		return nil
	})
}

// Unserved says in one line which of the kinds that a controller works on cannot
// be watched on a server, "" when all can.
func Unserved(server *fakeapi.Server, c host.Controller) string {
	kinds := append([]schema.GroupVersionKind{c.For}, c.Owns...)
	for _, route := range c.Routes {
		kinds = append(kinds, route.Kind)
	}
	for _, gvk := range kinds {
		if gvk.Empty() || slices.ContainsFunc(server.Kinds(), func(k *fakeapi.Kind) bool { return k.GVK == gvk }) {
			continue
		}
		text := c.Name + " works on " + gvk.Kind + " of " + gvk.GroupVersion().String() + ", which "
		for _, k := range server.Kinds() {
			if k.GVK.GroupKind() == gvk.GroupKind() {
				return text + "is stored as " + k.GVK.Version + ": only the stored version can be watched"
			}
		}
		if n := server.NearestKind(gvk.Kind); n != "" {
			return text + "is not served; did you mean " + n + "?"
		}
		return text + "is not served: apply its definition before"
	}
	return ""
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
