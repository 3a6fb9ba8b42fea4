package simtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Case is a world in which controllers are tried: what it holds, what runs in
// it, what the user does meanwhile, and what must be so in the end. [Check] runs
// it under many schedules and holds each to the laws. A Case is compiled into a
// scenario file: a failure is written as one, and everything that works on files
// works on it.
type Case struct {
	// Controllers are under test: each runs as a process of its own, of its name.
	Controllers []host.Controller
	// With names controllers of this module to run beside them, as the verb
	// controllers does: "gc", "namespace", "replicaset@controllerref".
	With []string

	// Files are YAML files, and directories of such, with what the world holds in
	// the beginning: CustomResourceDefinitions first, then objects.
	Files []string
	// World is more of it as text, Objects as values. Objects that are not
	// unstructured are of the built-in kinds.
	World   string
	Objects []runtime.Object

	// Settled brings the world to rest in the default schedule before the user
	// acts. Without it everything races from the first step on.
	Settled bool
	// User is what the user does, in this order, at any time.
	User []Action
	// AtRest is what must hold, beside the laws, whenever the world has come to
	// rest; "" for no error is not asked of anybody.
	AtRest scenarios.Func

	Laws   []*law.Law     // nil means all
	Faults map[string]int // how many faults of each name a run may have; see [host.FaultNames]
	Strict bool           // races lost are broken laws, too

	// Schedules is how many are drawn; 0 means 1000. Exhaustive enumerates all
	// instead, which only small worlds allow. Both are overruled by the flags.
	Schedules  int
	Exhaustive bool

	_ struct{}
}

// Action is one thing the user does: a line of a scenario file, or a function.
type Action struct {
	Verb string // "delete widget/a --cascade=orphan"
	Name string // of the function: one word
	Do   scenarios.Func
}

// Verb is an action written as a line of a scenario file.
func Verb(line string) Action { return Action{Verb: line} }

// Do is an action written in Go. The name is one word and stands for it in
// schedules and in files.
func Do(name string, f func(user host.Client) error) Action { return Action{Name: name, Do: f} }

// atRest is the name of [Case.AtRest] in files.
const atRest = "at-rest"

// Registry is what the case's files may name: its controllers and functions, and
// all of this module's.
func (c *Case) Registry() *scenarios.Registry {
	g := &scenarios.Registry{Controllers: c.Controllers, Laws: c.Laws, Funcs: map[string]scenarios.Func{}}
	for _, a := range c.User {
		if a.Do != nil {
			g.Funcs[a.Name] = a.Do
		}
	}
	if c.AtRest != nil {
		g.Funcs[atRest] = c.AtRest
	}
	return cli.Complete(g)
}

// File compiles the case. The error is a mistake in it.
func (c *Case) File(name string) (*scenarios.File, error) {
	if len(c.Controllers) == 0 {
		return nil, fmt.Errorf("the case has no controllers: there is nothing to try")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", name)
	var sections []section
	add := func(body string) {
		if strings.TrimSpace(body) != "" {
			sections = append(sections, section{fmt.Sprintf("world-%d.yaml", len(sections)+1), strings.TrimRight(body, "\n") + "\n"})
		}
	}
	for _, path := range c.Files {
		texts, err := readYAML(path)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			add(t)
		}
	}
	add(c.World)
	objects, err := encode(c.Objects)
	if err != nil {
		return nil, err
	}
	add(objects)
	for _, s := range sections {
		fmt.Fprintf(&b, "apply %s\n", s.name)
	}
	b.WriteString("controllers")
	for i := range c.Controllers {
		b.WriteString(" " + controllers.FullName(&c.Controllers[i]))
	}
	b.WriteString(strings.Join(append([]string{""}, c.With...), " ") + "\n")
	c.script(&b)
	for _, s := range sections {
		fmt.Fprintf(&b, "-- %s --\n%s", s.name, s.body)
	}
	return scenarios.Parse(name, []byte(b.String()))
}

type section struct{ name, body string }

// script writes what happens once the controllers are there.
func (c *Case) script(b *strings.Builder) {
	switch {
	case c.Settled:
		b.WriteString("settle quiet\n")
	case len(c.User) > 0:
		b.WriteString("race\n")
	}
	for _, a := range c.User {
		if a.Do != nil {
			fmt.Fprintf(b, "do %s\n", a.Name)
		} else {
			b.WriteString(a.Verb + "\n")
		}
	}
	b.WriteString("settle\n")
	if c.AtRest != nil {
		fmt.Fprintf(b, "ensure %s\n", atRest)
	}
}

// readYAML reads a file, or the YAML files of a directory in the order of their
// names.
func readYAML(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	paths := []string{path}
	if st.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(path, "*.y*ml")); err != nil || len(paths) == 0 {
			return nil, fmt.Errorf("%s holds no YAML files", path)
		}
	}
	var texts []string
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(data))
	}
	return texts, nil
}

// encode writes objects as manifests.
func encode(objects []runtime.Object) (string, error) {
	server := fakeapi.New(fakeapi.Options{})
	var texts []string
	for _, o := range objects {
		o = o.DeepCopyObject()
		if o.GetObjectKind().GroupVersionKind().Empty() {
			k := server.KindOf(o)
			if k == nil {
				return "", fmt.Errorf("an object of type %T says neither apiVersion nor kind, and is of no built-in kind", o)
			}
			o.GetObjectKind().SetGroupVersionKind(k.GVK)
		}
		data, err := yaml.Marshal(o)
		if err != nil {
			return "", err
		}
		texts = append(texts, string(data))
	}
	return strings.Join(texts, "---\n"), nil
}
