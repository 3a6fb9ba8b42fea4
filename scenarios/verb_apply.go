package scenarios

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

var verbApply = &Verb{
	Name: "apply", Args: "SECTION...", Min: 1, Max: -1,
	Summary: "create the objects of a section, or merge them into those that exist",
	Detail: `The section's manifests are sent in order. An object that exists already is
changed by a JSON merge patch holding the manifest: fields it does not name stay.`,
	Example: "apply world.yaml",
	acts:    true,
	check:   checkManifests,
	run:     func(r *Run, s *Step) error { return r.eachSection(s, r.Apply) },
}

var verbCreate = &Verb{
	Name: "create", Args: "SECTION...", Min: 1, Max: -1,
	Summary: "create the objects of a section",
	Detail:  `An object that exists already is refused with 409 AlreadyExists.`,
	Example: "! create world.yaml",
	acts:    true,
	check:   checkManifests,
	run:     func(r *Run, s *Step) error { return r.eachSection(s, r.Create) },
}

func checkManifests(c *checker, s *Step) error {
	for _, name := range s.Words() {
		sec, err := c.section(s, name)
		if err != nil {
			return err
		}
		if _, err := c.file.manifests(sec, c.server); err != nil {
			return err
		}
	}
	return nil
}

// eachSection sends the manifests of the sections a step names. A refusal does
// not keep the rest from being sent.
func (r *Run) eachSection(s *Step, send func(*Manifest) error) error {
	var first *refused
	for _, name := range s.Words() {
		sec := r.file.Section(name)
		if sec == nil {
			return s.wrong("no section %s%s", name, suggest(name, r.file.SectionNames()))
		}
		all, err := r.file.manifests(sec, r.t.Server)
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
	}
	if first != nil {
		return first
	}
	return nil
}

// Apply creates an object, or merges it into the one that exists.
func (r *Run) Apply(m *Manifest) error {
	o := m.Object.(metav1.Object)
	return r.act("apply "+m.Ref().String(), func() error {
		t := target{kind: m.Kind, namespace: o.GetNamespace(), name: o.GetName()}
		if t.name == "" || r.lookup(t) == nil {
			return r.request(createRequest(m))
		}
		return r.request(&fakeapi.Request{Verb: fakeapi.Patch, Kind: m.Kind, Namespace: t.namespace, Name: t.name,
			PatchType: types.MergePatchType, Patch: m.JSON})
	})
}

// Create creates an object.
func (r *Run) Create(m *Manifest) error {
	return r.act("create "+m.Ref().String(), func() error { return r.request(createRequest(m)) })
}

func createRequest(m *Manifest) *fakeapi.Request {
	o := m.Object.(metav1.Object)
	return &fakeapi.Request{Verb: fakeapi.Create, Kind: m.Kind, Namespace: o.GetNamespace(), Name: o.GetName(), Object: m.Object}
}
