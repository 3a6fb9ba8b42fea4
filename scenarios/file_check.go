package scenarios

import "github.com/threelaws/threelaws/fakeapi"

// Check finds the mistakes a parser alone cannot: unknown controllers, kinds,
// laws and mutants, missing and unused sections, bad manifests, bad values.
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

// checkSteps checks the steps in their order, and what they read.
func (f *File) checkSteps(g *Registry) error {
	c := &checker{file: f, registry: g, server: fakeapi.New(fakeapi.Options{}), started: map[string]string{}}
	f.server = c.server
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
