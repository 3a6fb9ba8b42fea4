package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
)

// checker looks at all steps before anything runs, so that a mistake in the
// last line is found at once and nothing is half done. It follows only what the
// script says of processes.
type checker struct {
	file      *File
	registry  *Registry
	server    *fakeapi.Server
	processes []string
	started   map[string]string // process -> controller
}

// Check finds the mistakes a parser alone cannot: unknown controllers, kinds,
// laws and mutants, missing and unused sections, bad manifests, bad values.
func (f *File) Check(g *Registry) error {
	if err := g.Check(); err != nil {
		return err
	}
	for _, s := range f.Sections {
		s.read = false
	}
	if err := f.checkSteps(g); err != nil {
		return err
	}
	for _, s := range f.Sections {
		if !s.read {
			return wrong(f.Name, s.Line, "", "section %s is not used by any step", s.Name)
		}
	}
	return nil
}

// checkSteps checks the steps in their order, and what they read.
func (f *File) checkSteps(g *Registry) error {
	c := &checker{file: f, registry: g, server: fakeapi.New(fakeapi.Options{}), started: map[string]string{}}
	f.server = c.server
	for _, s := range f.Steps {
		v := FindVerb(s.Verb)
		if err := s.checkValues(v); err != nil {
			return err
		}
		if v.check == nil {
			continue
		}
		if err := v.check(c, s); err != nil {
			return err
		}
	}
	return nil
}

// section finds the section a step names, and marks it as used.
func (c *checker) section(s *Step, name string) (*Section, error) {
	sec := c.file.Section(name)
	if sec == nil {
		if len(c.file.Sections) == 0 {
			return nil, s.wrong("no section %s: the file has no sections", name)
		}
		return nil, s.wrong("no section %s%s", name, suggest(name, c.file.SectionNames()))
	}
	sec.read = true
	return sec, nil
}

// start notes a process.
func (c *checker) start(process, controller string) {
	if !slices.Contains(c.processes, process) {
		c.processes = append(c.processes, process)
	}
	c.started[process] = controller
}

// process checks the name of a running process.
func (c *checker) process(s *Step, name string) error {
	if slices.Contains(c.processes, c.alias(name)) {
		return nil
	}
	if len(c.processes) == 0 {
		return s.wrong("unknown process %s: none is running; start one with controllers", name)
	}
	return s.wrong("unknown process %s%s", name, suggest(name, c.processes))
}

// alias resolves the short name of a controller within a process's name.
func (c *checker) alias(name string) string { return c.registry.process(name) }

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

// kind checks the name of a kind.
func (c *checker) kind(s *Step, name string) (*fakeapi.Kind, error) {
	return kindNamed(servers{c.server}, s, name)
}

func kindNamed(in servers, s *Step, name string) (*fakeapi.Kind, error) {
	if k := in.kindNamed(name); k != nil {
		return k, nil
	}
	var names []string
	for _, server := range in {
		for _, k := range server.Kinds() {
			names = append(names, k.GVK.Kind, k.Resource)
		}
	}
	return nil, s.wrong("%s", s.file.unknownKind(name, names))
}

// object checks "KIND/NAME" or "NAMESPACE/KIND/NAME".
func (c *checker) object(s *Step, text string) error {
	_, err := parseTarget(servers{c.server}, s, text)
	return err
}

// target is an object a step names.
type target struct {
	kind            *fakeapi.Kind
	namespace, name string
}

func parseTarget(in servers, s *Step, text string) (target, error) {
	parts := strings.Split(text, "/")
	t := target{namespace: "default"}
	switch len(parts) {
	case 3:
		t.namespace, parts = parts[0], parts[1:]
	case 2:
	default:
		return t, s.wrong("%s is not an object: write KIND/NAME, or NAMESPACE/KIND/NAME", text)
	}
	if parts[1] == "" || t.namespace == "" {
		return t, s.wrong("%s is not an object: write KIND/NAME, or NAMESPACE/KIND/NAME", text)
	}
	k, err := kindNamed(in, s, parts[0])
	if err != nil {
		return t, err
	}
	t.kind, t.name = k, parts[1]
	if !k.Namespaced {
		t.namespace = ""
	}
	return t, nil
}

// number reads a parameter that counts something; fallback when it is absent.
func (s *Step) number(key string, fallback int) (int, error) {
	v, ok := s.Param(key)
	if !ok {
		return fallback, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, s.wrong("%s=%s is not a number: write one from 0", key, v)
	}
	return n, nil
}

// flag reports whether a parameter is "true".
func (s *Step) flag(name string) bool {
	v, _ := s.Param(name)
	return v == "true"
}

// duration reads a parameter that is a duration; zero when it is absent.
func (s *Step) duration(key string) (time.Duration, error) {
	v, ok := s.Param(key)
	if !ok {
		return 0, nil
	}
	return s.parseDuration(v)
}

func (s *Step) parseDuration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, s.wrong("%s is not a duration: write 5ms, 30s or 2m", v)
	}
	return d, nil
}
