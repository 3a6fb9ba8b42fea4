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
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// operator is an Operator that load has checked.
type operator struct {
	Operator
	over        func() error // returns an error when the check was cancelled
	definitions []manifest
	held        []manifest // CRDs that are not in a file on disk
	files       []string   // the files on disk that contain the other CRDs
	installed   []manifest
	notes       []string
	installs    string     // the YAML of the fields held and installed
	own         []sim.Ref  // objects that the program creates without the sample
	survives    bool       // the program still runs at the end of a world without the sample
	upkeep      []sim.Ref  // objects in installed that the program changes without the sample
	around      []manifest // the other objects in the sample's file
	owner       manifest   // the sample
	kind        *fakeapi.Kind
	server      *fakeapi.Server // contains CRDs and Installed; each world runs on a fork
	beside      []host.Controller
	lasts       time.Duration // how long a world runs; 0 means until it settles
	fact        string        // what the next quiet run is to find out
	complaint   string        // the last error that the program logged in a quiet run with its sample alone, or ""
	starts      []string      // other programs that the program tried to start in that run

	// start starts the processes of Others, and then the controller as a process with this name.
	start func(t *trial.Trial, name string) *host.Process
}

// load checks an Operator. The error describes a mistake in it, in one line.
func load(ctx context.Context, given Operator) (*operator, error) {
	options := fakeapi.Options{}
	if given.Server != nil {
		options = *given.Server
	}
	s := &operator{Operator: given, over: ctx.Err, lasts: given.For, server: fakeapi.New(options)}
	for _, look := range []func() error{s.invariants, s.program, s.define, s.install, s.readOwner,
		s.arrange, s.convert, s.accept} {
		if err := look(); err != nil {
			return nil, err
		}
	}
	s.installs = s.text()
	return s, nil
}

func (s *operator) invariants() error {
	if s.Strict {
		s.Invariants = append(slices.Clone(s.Invariants), marksStay)
	}
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
		if slices.Contains(own, v.ID) {
			return mistake("Invariants", "two invariants have the ID %s: the Contract has one", v.ID)
		}
		own = append(own, v.ID)
	}
	return CheckSkip(s.Skip, own...)
}

func (s *operator) program() error {
	c := &s.Controller
	if c.Hosted() {
		s.worksOn()
	}
	if err := c.Check(); err != nil {
		return mistake("Controller", "%v", err)
	}
	if c.For.Empty() && !c.Hosted() { // for a hosted program, s.readOwner reports an empty For
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

// worksOn sets the default name and kind of the program. The default kind is the kind of the sample's first custom
// object. If the sample has none, it is the kind of the sample's first object.
func (s *operator) worksOn() {
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

func (s *operator) define() error {
	for _, f := range s.CRDs {
		there := f.onDisk()
		for _, o := range f.Objects {
			if o.GetKind() != "CustomResourceDefinition" {
				continue
			}
			m := manifest{o.Unstructured}
			if err := create(s.server, m); err != nil {
				return mistake("CRDs", "%v", f.place(m, err))
			}
			s.definitions = append(s.definitions, m)
			if there {
				s.files = appendOnce(s.files, f.Path)
			} else {
				s.held = append(s.held, m)
			}
		}
	}
	return nil
}

func (s *operator) readOwner() error {
	f, none := s.Sample, s.Controller.For
	var kinds []string
	for _, o := range f.Objects {
		m := manifest{o.Unstructured}
		k := s.server.Kind(m.GroupVersionKind())
		if m.GetKind() == "" || m.GetAPIVersion() == "" {
			return fmt.Errorf("%s:%d: an object needs apiVersion and kind", f.Name, o.Line)
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
		} else {
			s.notes = append(s.notes, fmt.Sprintf("%s:%d: %s is left out: only the first %s of a file is tried", f.Name, o.Line, m.at(), m.GetKind()))
		}
		if m.GetName() == "" {
			return fmt.Errorf("%s:%d: the %s has no metadata.name", f.Name, o.Line, m.GetKind())
		}
	}
	switch {
	case s.owner.Unstructured != nil:
		return nil
	case none.Empty():
		return fmt.Errorf("%s: it holds no object of a kind that %s works on", f.Name, s.Controller.Name)
	}
	return fmt.Errorf("%s: it holds no %s, on which %s works, but %s", f.Name, worded(none), s.Controller.Name,
		cmp.Or(strings.Join(kinds, ", "), "nothing at all"))
}

// accept checks that the server accepts the sample and the objects around it.
func (s *operator) accept() error {
	if what := scenarios.Unserved(s.server, s.Controller); what != "" {
		return mistake("Controller", "%s", what)
	}
	server := s.server.Fork()
	for _, m := range append(slices.Clone(s.around), s.owner) {
		if err := s.prune(m); err != nil {
			return s.Sample.place(m, err)
		}
		if err := create(server, m); err != nil {
			err = s.Sample.place(m, err)
			for _, what := range s.Sample.pruned {
				err = fmt.Errorf("%w; %w", err, what)
			}
			return err
		}
	}
	for _, what := range s.Sample.pruned {
		s.notes = append(s.notes, what.Error()+"; it is left out, as a server does")
	}
	return nil
}

// arrange removes the objects in around that exist already, and puts the sample's namespace first.
func (s *operator) arrange() error {
	s.around = slices.DeleteFunc(s.around, func(m manifest) bool { // Installed contains the object
		return s.server.Lookup(s.server.Kind(m.GroupVersionKind()), m.GetNamespace(), m.GetName()) != nil
	})
	space := func(m manifest) bool { return m.GetKind() == "Namespace" && m.GetName() == s.owner.GetNamespace() }
	if i := slices.IndexFunc(s.around, space); i >= 0 {
		first := s.around[i]
		s.around = slices.Insert(slices.Delete(s.around, i, i+1), 0, first)
	} else if ns := s.owner.GetNamespace(); ns != "" && s.server.Lookup(s.server.KindNamed("namespace"), "", ns) == nil {
		s.around = append([]manifest{namespace(ns)}, s.around...)
	}
	return nil
}

// convert converts the objects of the sample's file to the versions that their CRDs store. If a CRD has a conversion
// webhook, the program runs in a world without the sample, and converts the object.
func (s *operator) convert() error {
	if !s.Controller.Hosted() {
		return nil
	}
	for _, m := range append(slices.Clone(s.around), s.owner) {
		k := s.server.Kind(m.GroupVersionKind())
		stored := k.Stored()
		if k == stored {
			continue
		}
		if err := s.prune(m); err != nil {
			return s.Sample.place(m, err)
		}
		if k.Hooked() {
			if err := s.ask(m, stored); err != nil {
				return s.Sample.place(m, fmt.Errorf("%s has the version %s, but its CRD stores %s: %w: write the sample in version %s",
					m.at(), k.GVK.Version, stored.GVK.Version, err, stored.GVK.Version))
			}
		}
		m.SetGroupVersionKind(stored.GVK)
		if s.Controller.For == k.GVK {
			s.Controller.For, s.kind = stored.GVK, stored
		}
	}
	return nil
}

// ask creates an object in a world in which the program runs, so that its webhook converts the object.
func (s *operator) ask(m manifest, stored *fakeapi.Kind) error {
	r, err := s.drawn(nil, nil, nil)
	if err != nil {
		return err
	}
	defer r.Stop()
	for _, around := range s.around {
		if around.GetKind() == "Namespace" {
			_ = create(r.Server, around) // if it is refused, so is m
		}
	}
	k := s.server.Kind(m.GroupVersionKind())
	obj, err := m.typed(k)
	if err != nil {
		return strict(m.at(), err)
	}
	req := &fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj}
	if _, err := r.Request(req); err != nil {
		return refusal("the server refuses it", err)
	}
	m.Object = bare(shown(r.Server.Lookup(stored, m.GetNamespace(), m.GetName()), stored.GVK)).Object
	return nil
}

// prune removes unknown fields from custom objects, like a server without strict field validation. It does so only for
// whole programs, because many repositories have outdated samples.
func (s *operator) prune(m manifest) error {
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
		s.Sample.pruned = append(s.Sample.pruned, s.Sample.place(m, unknown(m.at(), k, fields)))
	}
	return nil
}

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

const shownCRDs = 5

// unserved returns an error text for a kind that the server does not have. The text suggests the nearest kind.
func (s *operator) unserved(gvk schema.GroupVersionKind) string {
	var near []string
	for _, k := range s.server.Served() {
		near = append(near, worded(k.GVK))
	}
	text := "no server here serves " + worded(gvk)
	if n := nearest.Word(worded(gvk), near); n != "" {
		return text + "; did you mean " + n + "?"
	}
	if len(s.definitions) == 0 {
		return text + ": its CRD is missing: name it with --crds, or in the field CRDs of a Go test"
	}
	var names []string
	for _, d := range s.definitions {
		names = append(names, d.GetName())
	}
	if more := len(names) - shownCRDs; more > 0 {
		names = append(names[:shownCRDs], fmt.Sprintf("%d others", more))
	}
	return text + ": the CRDs are " + strings.Join(names, ", ")
}

// worded formats a kind as in manifests: "example.com/v1 Widget".
func worded(gvk schema.GroupVersionKind) string { return gvk.GroupVersion().String() + " " + gvk.Kind }

// accompany sets the controllers that run beside the tested controller: those in With and more, each once, and "gc".
func (s *operator) accompany(more []string) error {
	g := builtin.Complete(&scenarios.Registry{Controllers: []host.Controller{s.Controller}})
	with := slices.DeleteFunc(slices.Clone(s.With), func(name string) bool { return name == "gc" })
	s.With, s.beside = nil, nil
	for i, name := range append(append(with, more...), "gc") {
		b, what := g.Controller(name)
		if what != "" {
			return mistake(fmt.Sprintf("With[%d]", i), "%s", what)
		}
		if c := &s.Controller; i >= len(with) && (b.Name == c.Name || !b.For.Empty() && b.For == c.For ||
			slices.ContainsFunc(s.beside, func(c host.Controller) bool { return c.Name == b.Name })) {
			continue
		}
		s.With, s.beside = append(s.With, name), append(s.beside, b)
	}
	return nil
}

// custom reports whether a kind has a CRD.
func (s *operator) custom(gvk schema.GroupVersionKind) bool {
	kind := s.server.Kind(gvk)
	if kind == nil {
		return false
	}
	crd, _ := kind.Definition()
	return crd != nil
}
