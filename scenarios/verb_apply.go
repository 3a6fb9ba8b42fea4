package scenarios

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

var verbApply = &Verb{
	Name: "apply", Args: "SECTION...", Min: 1, Max: -1,
	Summary: "create the objects of a section, or merge them into those that exist",
	Detail: `The section's manifests are sent in order. An object that exists already is
changed by a JSON merge patch holding the manifest: fields it does not name stay.
$(uid KIND/NAME) in a value is the uid that this object has when the manifest is sent.
A CustomResourceDefinition makes its kind known to what stands behind it.`,
	Example: "apply world.yaml",
	acts:    true,
	sends:   true,
	check:   checkManifests,
	run:     func(r *Run, s *Step) error { return r.eachSection(s, r.file.exactly, r.apply) },
}

var verbCreate = &Verb{
	Name: "create", Args: "SECTION...", Min: 1, Max: -1,
	Summary: "create the objects of a section",
	Detail:  `An object that exists already is refused with 409 AlreadyExists.`,
	Example: "! create world.yaml",
	acts:    true,
	sends:   true,
	check:   checkManifests,
	run:     func(r *Run, s *Step) error { return r.eachSection(s, r.file.exactly, r.create) },
}

func checkManifests(c *checker, s *Step) error {
	for _, name := range s.Words() {
		sec, err := c.section(s, name)
		if err != nil {
			return err
		}
		if err := c.apply(s, sec); err != nil {
			return err
		}
	}
	return nil
}

// apply decodes a section and makes the kinds that it defines known to later steps.
func (c *checker) apply(s *Step, sec *section) error {
	all, err := c.file.manifests(sec, c.server)
	if err != nil {
		return err
	}
	text := c.file.text(sec)
	var refused error
	for _, m := range all {
		if c.server.Kind(m.Kind.GVK) == nil {
			return misread(text.Wrong(m.Line, "unknown kind %s: its definition is not applied before", m.Kind.GVK.Kind))
		}
		if err := checkUIDs(servers{c.server}, s, m.JSON); err != nil {
			return err
		}
		if what := m.DefineIn(c.server); what != "" && refused == nil {
			refused = misread(text.Refused(m, what))
		}
	}
	if s.Expect {
		return nil
	}
	return refused
}

// eachSection sends the manifests of the sections that a step names. After a refusal it still sends the others.
func (r *Run) eachSection(s *Step, find func(name string) []*section, send func(*manifest.Manifest) error) error {
	var first *refused
	all, err := r.manifests(s, find)
	if err != nil {
		return err
	}
	for _, m := range all {
		err := send(m)
		var no *refused
		switch {
		case errors.As(err, &no) && first == nil:
			first = &refused{m.Ref().String() + ": " + no.text}
		case err != nil && !errors.As(err, &no):
			return err
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// manifests lists the manifests of the sections that a step names.
func (r *Run) manifests(s *Step, find func(name string) []*section) ([]*manifest.Manifest, error) {
	var all []*manifest.Manifest
	for _, name := range s.Words() {
		secs := find(name)
		if len(secs) == 0 {
			return nil, s.wrong("no section %s%s", name, suggest(name, r.file.sectionNames()))
		}
		for _, sec := range secs {
			docs, err := r.file.manifests(sec, r.t.Server)
			if err != nil {
				return nil, err
			}
			all = append(all, docs...)
		}
	}
	return all, nil
}

// apply creates an object, or merges it into the one that exists.
func (r *Run) apply(m *manifest.Manifest) error {
	return r.act("apply "+m.Ref().String(), func() error {
		m, err := m.WithUIDs(r.uid)
		if err != nil {
			return err
		}
		t := targetOf(m)
		if t.name == "" || r.lookup(t) == nil {
			return r.request(m.CreateRequest())
		}
		return r.request(&fakeapi.Request{Verb: fakeapi.Patch, Kind: m.Kind, Namespace: t.namespace, Name: t.name,
			PatchType: types.MergePatchType, Patch: m.JSON})
	})
}

func (r *Run) create(m *manifest.Manifest) error {
	return r.act("create "+m.Ref().String(), func() error {
		m, err := m.WithUIDs(r.uid)
		if err != nil {
			return err
		}
		return r.request(m.CreateRequest())
	})
}
