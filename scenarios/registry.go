package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Registry contains what files may refer to by name: controllers, mutants, laws and functions. Package scenarios does
// not import controllers, so the caller provides them.
type Registry struct {
	Controllers []host.Controller // if several have the same name, the era of the last one is the default
	Mutants     []host.Mutant
	Laws        []*law.Law
	Aliases     map[string]string // alternative names of controllers, for example "gc": "garbagecollector"
	Managed     []string          // the names of the controllers that "*" includes; nil means all
	Absent      []string          // names of upstream controllers that are not in Controllers
	Funcs       map[string]Func   // the functions for the verbs do and ensure

	// Candidate is for the verb managers, and may be nil. It returns a controller that takes part in leader election
	// for the process with this name. The controller calls lead with the result.
	Candidate func(name string, lead func(bool)) host.Controller
	// Reaper returns the controller for "delete --client-side". It deletes an object as kubectl did before the garbage
	// collector existed, and passes the result to outcome. Reaper may be nil.
	Reaper func(kind schema.GroupVersionKind, namespace, name string, outcome func(error)) (host.Controller, error)

	// Server, if not nil, configures the server of every world, for example its webhooks. Its functions must not depend
	// on time or on random numbers.
	Server *fakeapi.Options
	// Namespace, if not "", exists in every world whose server Server configures. A hosted program runs in it.
	Namespace string
}

// server returns a server with the configuration in Server. For the default configuration it returns nil.
func (g *Registry) server() *fakeapi.Server {
	if g.Server == nil {
		return nil
	}
	server := fakeapi.New(*g.Server)
	if g.Namespace == "" || g.Namespace == metav1.NamespaceDefault {
		return server
	}
	kind := server.KindNamed("namespace")
	namespace := kind.New()
	namespace.(metav1.Object).SetName(g.Namespace)
	resp, _ := server.Do(sim.Epoch, &fakeapi.Request{Verb: fakeapi.Create, Kind: kind, Object: namespace})
	if resp.Err != nil {
		panic("scenarios: a namespace is refused: " + resp.Err.Error())
	}
	return server
}

// Func is a user action or a check in Go, for the verbs do and ensure. Its client acts as the user. Requests are
// executed at once. The result may depend only on what the function reads with the client.
type Func func(user host.Client) error

// Controller returns the controller "name" or "name@era". Without an era it returns the last controller with this name.
// The string is the text of an error, or "".
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
		if text == "" { // no name is near: list all names
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

// Eras returns all eras of all controllers.
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

// inPlace returns the value of Script.Replace for a mutant.
func inPlace(m *host.Mutant) map[string]host.Controller {
	c := m.Make()
	return map[string]host.Controller{c.Name: c}
}

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

// Check returns an error of one line about a mistake in the registry: a controller that cannot be run, two controllers
// with the same name and era, a nil function, or a function name that files cannot contain.
func (g *Registry) Check() error {
	for i := range g.Controllers {
		c := &g.Controllers[i]
		if err := c.Check(); err != nil {
			return g.wrong("%v", err)
		}
		for k := range g.Controllers[:i] {
			if d := &g.Controllers[k]; d.Name == c.Name && d.Era == c.Era {
				return g.wrong("two controllers are named %s: change one Name, or one Era", c.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Funcs)) {
		switch {
		case name == "" || strings.ContainsAny(name, " \t\r\n\"'#=") || strings.HasPrefix(name, "-"):
			return g.wrong("the function %q: its name must be one word, as files contain it", name)
		case name == sameEnd:
			return g.wrong("the function %s: that is the name of a law: choose another", name)
		case g.Funcs[name] == nil:
			return g.wrong("the function %s is nil", name)
		}
	}
	return nil
}

func (g *Registry) wrong(format string, args ...any) error {
	return &Error{File: "registry", Text: fmt.Sprintf(format, args...), Code: ExitUsage}
}

// Choose returns the controllers that a list selects, with the syntax of the flag --controllers of
// kube-controller-manager:
//   - "name" or "name@era" selects a controller,
//   - "*" selects all controllers that run by default,
//   - "all" selects all controllers of the registry,
//   - "-name" excludes a controller that "*" or "all" selects,
//   - "*@era" and "all@era" select this era; a controller that does not have it runs in its default era.
//
// If a list both selects and excludes a name, the first entry counts (KCM-1). The string is the text of an error, or
// "".
func (g *Registry) Choose(specs []string) ([]host.Controller, string) {
	var chosen []host.Controller
	var out []string
	for _, spec := range specs {
		name, minus := strings.CutPrefix(spec, "-")
		c, what := g.Controller(name)
		if minus && slices.Contains(g.Absent, name) {
			continue // it never runs, because it is not registered here
		}
		switch {
		case what != "" && !isWildcard(name) || minus && isWildcard(name):
			if minus && isWildcard(name) {
				what = spec + " leaves nothing"
			}
			return nil, what
		case minus:
			out = append(out, c.Name)
		case isWildcard(name):
		case slices.Contains(out, c.Name):
		case slices.ContainsFunc(chosen, func(d host.Controller) bool { return d.Name == c.Name }):
			return nil, c.Name + " is named twice"
		default:
			chosen = append(chosen, c)
		}
	}
	for _, spec := range specs {
		if !isWildcard(spec) {
			continue
		}
		word, era, _ := strings.Cut(spec, "@")
		if all := g.Eras(); era != "" && !slices.Contains(all, era) {
			return nil, "unknown era " + era + suggest(era, all)
		}
		for _, name := range g.meant(word) {
			named := slices.ContainsFunc(chosen, func(d host.Controller) bool { return d.Name == name })
			if !named && !slices.Contains(out, name) {
				chosen = append(chosen, g.inEra(name, era))
			}
		}
		return g.inOrder(chosen), ""
	}
	if len(out) > 0 {
		return nil, "-" + out[0] + " excludes a controller of no list: name * or all as well"
	}
	return chosen, ""
}

func isWildcard(spec string) bool {
	word, _, _ := strings.Cut(spec, "@")
	return word == "*" || word == "all"
}

func (g *Registry) meant(word string) []string {
	if word == "*" && g.Managed != nil {
		return g.Managed
	}
	var names []string
	for i := range g.Controllers {
		if name := g.Controllers[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// inEra returns a controller in an era. If the controller does not have this era, inEra returns its default era.
func (g *Registry) inEra(name, era string) host.Controller {
	if c, what := g.Controller(name + "@" + era); what == "" {
		return c
	}
	c, _ := g.Controller(name)
	return c
}

// inOrder sorts controllers in the order of the registry. Without this, a controller that is named in addition to "*"
// could start before the others.
func (g *Registry) inOrder(chosen []host.Controller) []host.Controller {
	names := g.meant("all")
	slices.SortStableFunc(chosen, func(a, b host.Controller) int {
		return slices.Index(names, a.Name) - slices.Index(names, b.Name)
	})
	return chosen
}
