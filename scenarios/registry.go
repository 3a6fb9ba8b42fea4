package scenarios

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Registry is what files may name: the table of controllers, the mutants, the
// laws. This package does not import controllers; whoever runs files passes
// them in.
type Registry struct {
	Controllers []host.Controller // the last of a name is its default generation
	Mutants     []host.Mutant
	Laws        []*law.Law
	Aliases     map[string]string // "gc": "garbagecollector"
	Funcs       map[string]Func   // what the verbs do and ensure name

	// Reaper makes the process that deletes an object as kubectl did before the
	// garbage collector: "delete --client-side". It tells outcome how it ended.
	// It may be nil.
	Reaper func(kind schema.GroupVersionKind, namespace, name string, outcome func(error)) (host.Controller, error)
}

// Controller finds "name" or "name@generation"; a name alone means the last of
// that name. The string says what is wrong, "" when nothing is.
func (g *Registry) Controller(spec string) (host.Controller, string) {
	name, generation, _ := strings.Cut(spec, "@")
	if a, ok := g.Aliases[name]; ok {
		name = a
	}
	var names, generations []string
	found := -1
	for i, c := range g.Controllers {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if c.Name != name {
			continue
		}
		generations = append(generations, c.Generation)
		if generation == "" || c.Generation == generation {
			found = i
		}
	}
	switch {
	case found >= 0:
		return g.Controllers[found], ""
	case len(generations) == 0:
		return host.Controller{}, "unknown controller " + name + suggest(name, names)
	}
	return host.Controller{}, "unknown generation " + generation + " of " + name + suggest(generation, generations)
}

// Generations lists every generation any controller has.
func (g *Registry) Generations() []string {
	var all []string
	for _, c := range g.Controllers {
		if c.Generation != "" && !slices.Contains(all, c.Generation) {
			all = append(all, c.Generation)
		}
	}
	return all
}

func (g *Registry) mutant(name string) (*host.Mutant, string) {
	var names []string
	for i := range g.Mutants {
		if g.Mutants[i].Name == name {
			return &g.Mutants[i], ""
		}
		names = append(names, g.Mutants[i].Name)
	}
	return nil, "unknown mutant " + name + suggest(name, names)
}

// inPlace says, by name, that a mutant is to run instead of its controller.
func inPlace(m *host.Mutant) map[string]host.Controller {
	c := m.Make()
	return map[string]host.Controller{c.Name: c}
}

// law finds a law by name or by clause.
func (g *Registry) law(name string) (*law.Law, string) {
	var names []string
	for _, l := range g.Laws {
		if l.Name == name || strings.EqualFold(l.ID, name) {
			return l, ""
		}
		names = append(names, l.Name)
	}
	return nil, "unknown law " + name + suggest(name, names)
}
