package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/internal/yamldoc"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// subject is what is tried, with its files read.
type subject struct {
	Subject
	definitions []manifest
	around      []manifest // what the sample's file holds beside the sample
	owner       manifest   // the sample
	kind        *fakeapi.Kind
	server      *fakeapi.Server // with the definitions, to be forked
	beside      []host.Controller

	// start starts the program as a process of a name. It is all that a quiet run knows of
	// how the program is hosted.
	start func(t *trial.Trial, name string) *host.Process
}

// load reads a subject. The error is a mistake in it, in one line.
func load(given Subject) (*subject, error) {
	s := &subject{Subject: given, server: fakeapi.New(fakeapi.Options{})}
	for _, look := range []func() error{s.program, s.define, s.readOwner, s.served, s.accept} {
		if err := look(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// program looks at what is to be run.
func (s *subject) program() error {
	c := &s.Controller
	switch {
	case s.Run != nil && c.New != nil:
		return errors.New("conformance.Subject: Run and Controller: it is one or the other")
	case s.Run != nil:
		if err := s.whole(); err != nil {
			return err
		}
	case c.New == nil && c.Name == "":
		return errors.New("conformance.Subject: there is nothing to try: give a program as Run, or a stepped " +
			"reconciler as Controller")
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("conformance.Subject: Controller: %w", err)
	}
	if c.For.Empty() {
		return fmt.Errorf("conformance.Subject: Controller: controller %s: For is empty: name the kind that it works "+
			"on", c.Name)
	}
	s.start = func(t *trial.Trial, name string) *host.Process { return t.Start(name, *c) }
	g := builtin.Complete(&scenarios.Registry{Controllers: []host.Controller{*c}})
	s.With = append(slices.DeleteFunc(slices.Clone(s.With), func(name string) bool { return name == "gc" }), "gc")
	for i, name := range s.With {
		b, what := g.Controller(name)
		if what != "" {
			return fmt.Errorf("conformance.Subject: With[%d]: %s", i, what)
		}
		s.beside = append(s.beside, b)
	}
	s.Profile = max(s.Profile, c.Profile)
	return nil
}

// whole makes a controller of a whole program. It works on the sample's kind, where nothing
// else is said: the first custom object of the file, or else its first.
func (s *subject) whole() error {
	c := &s.Controller
	if c.Name == "" {
		c.Name = "program"
	}
	if c.For.Empty() {
		data, err := os.ReadFile(s.Owner)
		if err != nil {
			return s.noSample()
		}
		for _, doc := range yamldoc.Split(data) {
			m, err := read(doc.Text)
			if err != nil || m.Unstructured == nil {
				continue // readOwner says what is wrong with it
			}
			custom := s.server.Kind(m.GroupVersionKind()) == nil
			if custom || c.For.Empty() {
				c.For = m.GroupVersionKind()
			}
			if custom {
				break
			}
		}
	}
	*c = bubble.Controller(*c, s.Run)
	return nil
}

// define reads the definitions into the server.
func (s *subject) define() error {
	if s.CRDs == nil {
		return nil
	}
	err := fs.WalkDir(s.CRDs, ".", func(name string, d fs.DirEntry, err error) error {
		if ext := path.Ext(name); err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return err
		}
		data, err := fs.ReadFile(s.CRDs, name)
		if err != nil {
			return err
		}
		for _, doc := range yamldoc.Split(data) {
			m, err := read(doc.Text)
			switch {
			case err != nil:
				return fmt.Errorf("%s:%d: %w", name, doc.Line, err)
			case m.Unstructured == nil || m.GetKind() != "CustomResourceDefinition":
				continue
			}
			if err := s.create(m); err != nil {
				return fmt.Errorf("%s:%d: %w", name, doc.Line, err)
			}
			s.definitions = append(s.definitions, m)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("conformance.Subject: CRDs: %w", err)
	}
	if len(s.definitions) == 0 {
		return errors.New("conformance.Subject: CRDs: no file *.yaml of it holds a CustomResourceDefinition")
	}
	return nil
}

// noSample says that there is no file with a sample.
func (s *subject) noSample() error {
	if s.Owner == "" {
		return errors.New("conformance.Subject: Owner is empty: name a YAML file with a sample " +
			cmp.Or(s.Controller.For.Kind, "of the kind that it works on"))
	}
	at, _ := os.Getwd()
	return fmt.Errorf("conformance.Subject: Owner: %s is not there: paths are relative to the package's "+
		"directory, %s", s.Owner, filepath.Base(at))
}

// readOwner reads the sample.
func (s *subject) readOwner() error {
	data, err := os.ReadFile(s.Owner)
	if err != nil {
		return s.noSample()
	}
	var kinds []string
	for _, doc := range yamldoc.Split(data) {
		m, err := read(doc.Text)
		switch {
		case err != nil:
			return fmt.Errorf("%s:%d: %w", s.Owner, doc.Line, err)
		case m.Unstructured == nil:
			continue
		}
		k := s.server.Kind(m.GroupVersionKind())
		if m.GetKind() == "" || m.GetAPIVersion() == "" {
			return fmt.Errorf("%s:%d: an object says its apiVersion and its kind", s.Owner, doc.Line)
		}
		if k == nil {
			return fmt.Errorf("%s:%d: %s", s.Owner, doc.Line, s.unserved(m.GroupVersionKind()))
		}
		if k.Namespaced && m.GetNamespace() == "" {
			m.SetNamespace("default")
		}
		if kinds = append(kinds, worded(m.GroupVersionKind())); m.GroupVersionKind() != s.Controller.For {
			s.around = append(s.around, m)
		} else if s.owner.Unstructured == nil {
			s.owner, s.kind = m, k
		}
		if m.GetName() == "" {
			return fmt.Errorf("%s:%d: the %s has no metadata.name", s.Owner, doc.Line, m.GetKind())
		}
	}
	if s.owner.Unstructured == nil {
		return fmt.Errorf("%s: it holds no %s, on which %s works, but %s", s.Owner, worded(s.Controller.For),
			s.Controller.Name, orNothing(strings.Join(kinds, ", ")))
	}
	return nil
}

// served looks whether there is every kind that the controller names.
func (s *subject) served() error {
	if what := scenarios.Unserved(s.server, s.Controller); what != "" {
		return fmt.Errorf("conformance.Subject: Controller: %s", what)
	}
	return nil
}

// accept looks whether the server takes the sample and what is around it.
func (s *subject) accept() error {
	if ns := s.owner.GetNamespace(); ns != "" && ns != "default" {
		m, _ := read([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + ns + "}\n"))
		s.around = append([]manifest{m}, s.around...)
	}
	server := s.server
	defer func() { s.server = server }()
	s.server = server.Fork()
	for _, m := range append(slices.Clone(s.around), s.owner) {
		if err := s.create(m); err != nil {
			return fmt.Errorf("%s: %w", s.Owner, err)
		}
	}
	return nil
}

// create sends a manifest to the server.
func (s *subject) create(m manifest) error { return create(s.server, m) }

func create(server *fakeapi.Server, m manifest) error {
	k := server.Kind(m.GroupVersionKind())
	if k == nil {
		return fmt.Errorf("no server here serves %s", worded(m.GroupVersionKind()))
	}
	obj, err := m.typed(k)
	if err != nil {
		return fmt.Errorf("%s: %s", m.at(), strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if _, d := k.Definition(); d != nil {
		if unknown, err := k.Prune(manifest{m.DeepCopy()}.Unstructured); err != nil || len(unknown) > 0 {
			return fmt.Errorf("%s: the definition knows no field %s", m.at(), strings.Join(unknown, ", "))
		}
	}
	resp, _ := server.Do(sim.Epoch,
		&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj})
	if resp.Err != nil {
		return fmt.Errorf("the server refuses %s: %s", m.at(), strings.ReplaceAll(resp.Err.Error(), "\n", " "))
	}
	return nil
}

// unserved says that there is no such kind, and which was meant.
func (s *subject) unserved(gvk schema.GroupVersionKind) string {
	var near []string
	for _, k := range s.server.Served() {
		near = append(near, worded(k.GVK))
	}
	text := "no server here serves " + worded(gvk)
	if n := nearest.Word(worded(gvk), near); n != "" {
		return text + "; did you mean " + n + "?"
	}
	if len(s.definitions) == 0 {
		return text + ": its CustomResourceDefinition belongs into CRDs"
	}
	var names []string
	for _, d := range s.definitions {
		names = append(names, d.GetName())
	}
	return text + ": CRDs defines " + strings.Join(names, ", ")
}

// worded is a kind as manifests say it: "example.com/v1 Widget".
func worded(gvk schema.GroupVersionKind) string { return gvk.GroupVersion().String() + " " + gvk.Kind }

func orNothing(text string) string {
	if text == "" {
		return "nothing at all"
	}
	return text
}
