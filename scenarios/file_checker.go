package scenarios

import (
	"slices"

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

// section finds the section a step names, and marks it as used.
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

// kind checks the name of a kind.
func (c *checker) kind(s *Step, name string) (*fakeapi.Kind, error) {
	return kindNamed(servers{c.server}, s, name)
}

// object checks "KIND/NAME" or "NAMESPACE/KIND/NAME".
func (c *checker) object(s *Step, text string) error {
	_, err := parseTarget(servers{c.server}, s, text)
	return err
}
