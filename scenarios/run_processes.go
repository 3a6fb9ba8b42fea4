package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// processesNamed finds processes for a verb.
func (r *Run) processesNamed(name string) ([]*host.Process, error) {
	ps := r.instances(r.registry.process(name))
	if len(ps) == 0 {
		return nil, r.errorf("unknown process %s%s", name, suggest(name, r.processNames()))
	}
	return ps, nil
}

// processNames lists the names of the processes.
func (r *Run) processNames() []string {
	var names []string
	for _, p := range r.t.Cluster.Processes() {
		names = append(names, p.Name)
	}
	return names
}

// instances lists the processes that a step names: one, every instance of a controller, or all.
func (r *Run) instances(name string) []*host.Process {
	var out []*host.Process
	for _, p := range r.t.Cluster.Processes() {
		base, _, _ := strings.Cut(p.Name, "#")
		if name == "all" || p.Name == name || base == name && !strings.Contains(name, "#") {
			out = append(out, p)
		}
	}
	return out
}

// start starts a process with its controller, or with that controller's mutant.
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

// Unserved describes in one line the kinds that a controller needs but cannot watch on a server; "" if it can watch
// all.
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

// replacing returns what runs instead of a controller. A mutant replaces its own era only.
func (r *Run) replacing(c host.Controller) host.Controller {
	if m, ok := r.replace[c.Name]; ok && (m.Era == c.Era || m.Era == "") {
		r.replaced = true
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
