package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// subject is what is tried, with everything looked at.
type subject struct {
	Subject
	over        func() error // of the context of its quiet runs
	definitions []manifest
	held        []manifest // definitions that are in no file of the disk
	files       []string   // those of the disk with the others
	installed   []manifest
	notes       []string
	pruned      []error    // what the definitions of the sample's objects do not know
	installs    string     // the text of what is installed beside the files
	own         []sim.Ref  // what a program makes for itself
	around      []manifest // what the sample's file holds beside the sample
	owner       manifest   // the sample
	kind        *fakeapi.Kind
	server      *fakeapi.Server // with the definitions, to be forked
	beside      []host.Controller
	lasts       time.Duration // how long a world is given; 0 for until it settles

	// start starts the program as a process of a name. It is all that a quiet run knows of
	// how the program is hosted.
	start func(t *trial.Trial, name string) *host.Process
}

// load looks at a subject. The error is a mistake in it, in one line.
func load(ctx context.Context, given Subject) (*subject, error) {
	s := &subject{Subject: given, over: ctx.Err, lasts: given.For, server: fakeapi.New(options(given.Server))}
	for _, look := range []func() error{s.invariants, s.program, s.define, s.install, s.readOwner, s.served, s.accept} {
		if err := look(); err != nil {
			return nil, err
		}
	}
	s.installs = s.text()
	return s, nil
}

// invariants looks at what is to be asked beside the laws, and at what is to be skipped.
func (s *subject) invariants() error {
	if err := law.CheckInvariants(s.Invariants); err != nil {
		return mistake("Invariants", "%v", err)
	}
	var own []string
	for _, v := range s.Controller.Contract.Invariants {
		if v != nil {
			own = append(own, v.ID)
		}
	}
	for _, v := range s.Invariants {
		switch {
		case law.ByID(v.ID) != nil:
			return mistake("Invariants", "%s is a law: give the invariant an ID of its own", v.ID)
		case slices.Contains(own, v.ID):
			return mistake("Invariants", "two invariants have the ID %s: the Contract has one", v.ID)
		}
		own = append(own, v.ID)
	}
	return CheckSkip(s.Skip, own...)
}

func options(o *fakeapi.Options) fakeapi.Options {
	if o == nil {
		return fakeapi.Options{}
	}
	return *o
}

// program looks at what is to be run.
func (s *subject) program() error {
	c := &s.Controller
	if c.Hosted() {
		s.worksOn()
	}
	if err := c.Check(); err != nil {
		return mistake("Controller", "%v", err)
	}
	if c.For.Empty() && !c.Hosted() { // of a program without a sample readOwner says what is wrong
		return mistake("Controller", "controller %s: For is empty: name the kind that it works on", c.Name)
	}
	s.start = func(t *trial.Trial, name string) *host.Process {
		for _, o := range s.Others {
			t.Start(o.Name, o)
		}
		return t.Start(name, *c)
	}
	for i := range s.Others {
		if err := s.Others[i].Check(); err != nil {
			return mistake(fmt.Sprintf("Others[%d]", i), "%v", err)
		}
	}
	if err := s.accompany(nil); err != nil {
		return err
	}
	s.Profile = max(s.Profile, c.Contract.Profile)
	return nil
}

// worksOn names a whole program and its kind where the subject does not: the first custom object of the sample, or
// else its first.
func (s *subject) worksOn() {
	c := &s.Controller
	c.Name = cmp.Or(c.Name, "program")
	if !c.For.Empty() {
		return
	}
	for _, o := range s.Sample.Objects {
		custom := s.server.Kind(o.GroupVersionKind()) == nil
		if custom || c.For.Empty() {
			c.For = o.GroupVersionKind()
		}
		if custom {
			return
		}
	}
}

// define reads the definitions into the server.
func (s *subject) define() error {
	for _, f := range s.CRDs {
		there := f.onDisk()
		for _, o := range f.Objects {
			if o.GetKind() != "CustomResourceDefinition" {
				continue
			}
			m := manifest{o.Unstructured}
			if err := s.create(m); err != nil {
				return mistake("CRDs", "%v", f.place(m, err))
			}
			s.definitions = append(s.definitions, m)
			if !there {
				s.held = append(s.held, m)
			} else if !slices.Contains(s.files, f.Path) {
				s.files = append(s.files, f.Path)
			}
		}
	}
	return nil
}

// readOwner finds the sample.
func (s *subject) readOwner() error {
	f, none := s.Sample, s.Controller.For
	var kinds []string
	for _, o := range f.Objects {
		m := manifest{o.Unstructured}
		k := s.server.Kind(m.GroupVersionKind())
		if m.GetKind() == "" || m.GetAPIVersion() == "" {
			return fmt.Errorf("%s:%d: an object says its apiVersion and its kind", f.Name, o.Line)
		}
		if k == nil {
			return fmt.Errorf("%s:%d: %s", f.Name, o.Line, s.unserved(m.GroupVersionKind()))
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
			return fmt.Errorf("%s:%d: the %s has no metadata.name", f.Name, o.Line, m.GetKind())
		}
	}
	switch {
	case s.owner.Unstructured != nil:
		return nil
	case none.Empty():
		return fmt.Errorf("%s: it holds nothing on which %s could work", f.Name, s.Controller.Name)
	}
	return fmt.Errorf("%s: it holds no %s, on which %s works, but %s", f.Name, worded(none), s.Controller.Name,
		orNothing(strings.Join(kinds, ", ")))
}

// served looks whether there is every kind that the controller names.
func (s *subject) served() error {
	if what := scenarios.Unserved(s.server, s.Controller); what != "" {
		return mistake("Controller", "%s", what)
	}
	return nil
}

// accept looks whether the server takes the sample and what is around it.
func (s *subject) accept() error {
	if ns := s.owner.GetNamespace(); ns != "" && s.server.Lookup(s.server.KindNamed("namespace"), "", ns) == nil {
		s.around = append([]manifest{namespace(ns)}, s.around...)
	}
	server := s.server
	defer func() { s.server = server }()
	s.server = server.Fork()
	for _, m := range append(slices.Clone(s.around), s.owner) {
		if err := s.prune(m); err != nil {
			return s.Sample.place(m, err)
		}
		if err := s.create(m); err != nil {
			err = s.Sample.place(m, err)
			for _, what := range s.pruned {
				err = fmt.Errorf("%w; %w", err, what)
			}
			return err
		}
	}
	for _, what := range s.pruned {
		s.notes = append(s.notes, what.Error()+"; it is left out, as a server does")
	}
	return nil
}

// prune takes fields that the definition does not know out of an object of a whole program's sample, as a server does
// that is not asked to be strict: many repositories have samples of an older version.
func (s *subject) prune(m manifest) error {
	k := s.server.Kind(m.GroupVersionKind())
	if k == nil || !s.Controller.Hosted() {
		return nil
	}
	if _, d := k.Definition(); d == nil {
		return nil
	}
	fields, err := k.Prune(m.Unstructured)
	if err != nil {
		return strict(m.at(), err)
	}
	if len(fields) > 0 {
		s.pruned = append(s.pruned, s.Sample.place(m, unknown(m.at(), k, fields)))
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
		return strict(m.at(), err)
	}
	if _, d := k.Definition(); d != nil {
		fields, err := k.Prune(manifest{m.DeepCopy()}.Unstructured)
		if err != nil {
			return strict(m.at(), err)
		}
		if len(fields) > 0 {
			return unknown(m.at(), k, fields)
		}
	}
	resp, _ := server.Do(sim.Epoch,
		&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj})
	if resp.Err != nil {
		return refusal("the server refuses "+m.at(), resp.Err)
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
