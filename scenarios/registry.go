package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Registry is what files may name: the table of controllers, the mutants, the
// laws. This package does not import controllers; whoever runs files passes
// them in.
type Registry struct {
	Controllers []host.Controller // the last of a name is its default era
	Mutants     []host.Mutant
	Laws        []*law.Law
	Aliases     map[string]string // "gc": "garbagecollector"
	Managed     []string          // the controllers that "*" means; nil: all
	Absent      []string          // names that are known, of controllers that are not in the table
	Funcs       map[string]Func   // what the verbs do and ensure name

	// Candidate makes the process by which an instance of the controller manager, of a
	// name, stands for election: "managers". It may be nil.
	Candidate func(name string, lead func(bool)) host.Controller
	// Reaper makes the process that deletes an object as kubectl did before the
	// garbage collector: "delete --client-side". It tells outcome how it ended.
	// It may be nil.
	Reaper func(kind schema.GroupVersionKind, namespace, name string, outcome func(error)) (host.Controller, error)

	// Server, if set, is what the server of every world is like: who answers for its
	// webhooks. What depends on time or chance there is no world's.
	Server *fakeapi.Options
}

// server is an empty server, nil where it is as any is.
func (g *Registry) server() *fakeapi.Server {
	if g.Server == nil {
		return nil
	}
	return fakeapi.New(*g.Server)
}

// Func is something a Go test does or requires, in a file's place for a verb. Its
// client acts for the user, at once. It may depend on nothing but what it reads.
type Func func(user host.Client) error

// Controller finds "name" or "name@era"; a name alone means the last of
// that name. The string says what is wrong, "" when nothing is.
func (g *Registry) Controller(spec string) (host.Controller, string) {
	name, era, _ := strings.Cut(spec, "@")
	if a, ok := g.Aliases[name]; ok {
		name = a
	}
	var names, eras []string
	found := -1
	for i, c := range g.Controllers {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if c.Name != name {
			continue
		}
		eras = append(eras, c.Era)
		if era == "" || c.Era == era {
			found = i
		}
	}
	switch {
	case found >= 0:
		return g.Controllers[found], ""
	case slices.Contains(g.Absent, name):
		return host.Controller{}, name + " is one of kube-controller-manager's controllers, and is not here"
	case len(eras) == 0:
		text := suggest(name, append(slices.Clone(names), slices.Sorted(maps.Keys(g.Aliases))...))
		if text == "" { // a long list is better than none
			slices.Sort(names)
			text = "; there are " + strings.Join(names, ", ")
		}
		return host.Controller{}, "unknown controller " + name + text
	case len(eras) == 1 && eras[0] == "":
		return host.Controller{}, "unknown era " + era + " of " + name +
			", which is the same in all of them"
	}
	return host.Controller{}, "unknown era " + era + " of " + name + suggest(era, eras)
}

// Eras lists every era any controller has.
func (g *Registry) Eras() []string {
	var all []string
	for _, c := range g.Controllers {
		if c.Era != "" && !slices.Contains(all, c.Era) {
			all = append(all, c.Era)
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

// process resolves the short name of a controller within a process's name.
func (g *Registry) process(name string) string {
	base, number, ok := strings.Cut(name, "#")
	if a, found := g.Aliases[base]; found {
		base = a
	}
	if ok {
		return base + "#" + number
	}
	return base
}

// Check reports a mistake in the registry itself, in one line: a controller that
// cannot run, two that no name tells apart, a function that no file can name.
func (g *Registry) Check() error {
	for i := range g.Controllers {
		c := &g.Controllers[i]
		if err := c.Check(); err != nil {
			return g.wrong("%v", err)
		}
		for k := range g.Controllers[:i] {
			if d := &g.Controllers[k]; d.Name == c.Name && d.Era == c.Era {
				return g.wrong("two controllers are named %s: give one another Name, or another Era", c.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Funcs)) {
		switch {
		case name == "" || strings.ContainsAny(name, " \t\r\n\"'#=") || strings.HasPrefix(name, "-"):
			return g.wrong("the function %q: its name is one word, as it stands in files", name)
		case name == SameEnd:
			return g.wrong("the function %s: that is the name of a law: give it another", name)
		case g.Funcs[name] == nil:
			return g.wrong("the function %s is nil", name)
		}
	}
	return nil
}

func (g *Registry) wrong(format string, args ...any) error {
	return &Error{File: "registry", Text: fmt.Sprintf(format, args...), Code: ExitUsage}
}
