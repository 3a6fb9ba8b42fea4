package scenarios

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
)

// Check finds mistakes that the parser cannot find: unknown controllers, kinds, laws and mutants, missing and unused
// sections, and invalid manifests and values.
func (f *File) Check(g *Registry) error {
	if err := g.Check(); err != nil {
		return err
	}
	for _, s := range f.sections {
		s.read = false
	}
	if err := f.checkSteps(g); err != nil {
		return err
	}
	for _, s := range f.sections {
		if !s.read {
			return wrong(f.Name, s.line, "", "section %s is not used by any step", s.name)
		}
	}
	return nil
}

func (f *File) checkSteps(g *Registry) error {
	c := &checker{file: f, registry: g, server: fakeapi.New(fakeapi.Options{}), started: map[string]string{}}
	f.server, f.base = c.server, nil
	for _, s := range f.Steps {
		if err := s.checkValues(); err != nil {
			return err
		}
		if s.verb.check == nil {
			continue
		}
		if err := s.verb.check(c, s); err != nil {
			return err
		}
	}
	return nil
}

// checker checks all steps before the first step is run, so that a mistake in the last line is found at once. It tracks
// only kinds, installed objects, and the processes that the script starts.
type checker struct {
	file      *File
	registry  *Registry
	server    *fakeapi.Server
	processes []string
	started   map[string]string // process -> name of its controller
}

// section returns the section that a step names, and marks it as read.
func (c *checker) section(s *Step, name string) (*section, error) {
	sec := c.file.section(name)
	if sec == nil {
		if len(c.file.sections) == 0 {
			return nil, s.wrong("no section %s: the file has no sections", name)
		}
		return nil, s.wrong("no section %s%s", name, suggest(name, c.file.sectionNames()))
	}
	sec.read = true
	return sec, nil
}

func (c *checker) start(process, controller string) {
	if !slices.Contains(c.processes, process) {
		c.processes = append(c.processes, process)
	}
	c.started[process] = controller
}

func (c *checker) process(s *Step, name string) error {
	if slices.Contains(c.processes, c.alias(name)) {
		return nil
	}
	if len(c.processes) == 0 {
		return s.wrong("unknown process %s: none is running; start one with controllers", name)
	}
	return s.wrong("unknown process %s%s", name, suggest(name, c.processes))
}

// alias replaces a controller's short name in the name of a process.
func (c *checker) alias(name string) string { return c.registry.process(name) }

func (c *checker) kind(s *Step, name string) (*fakeapi.Kind, error) {
	return kindNamed(servers{c.server}, s, name)
}

func (c *checker) object(s *Step, text string) error {
	_, err := parseTarget(servers{c.server}, s, text)
	return err
}
