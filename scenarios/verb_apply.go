package scenarios

import (
	"errors"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
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

var verbDelete = &Verb{
	Name: "delete", Min: 1, Max: -1,
	Args:    "KIND/NAME... [--cascade=POLICY] [--grace-period=SECONDS] [--now] [--client-side]",
	Summary: "delete objects",
	Detail: `Without --cascade the kind's own default policy holds. --client-side does what
kubectl did before there was a garbage collector: scale to zero, wait until the
status says that nothing is left, then delete and orphan what remains.`,
	Example: "delete rs/web-a --cascade=orphan",
	Params: []Param{
		{Name: "cascade", Summary: "propagation policy", Values: []string{"background", "foreground", "orphan"}},
		{Name: "grace-period", Summary: "seconds; 0 removes at once"},
		{Name: "now", Summary: "the same as --grace-period=1", Values: []string{"true", "false"}},
		{Name: "client-side", Summary: "cascade as old kubectl did", Values: []string{"true", "false"}},
	},
	acts:  true,
	check: checkObjects,
	run: func(r *Run, s *Step) error {
		o, err := s.deleteOptions()
		if err != nil {
			return err
		}
		for _, name := range s.Words() {
			if s.flag("client-side") {
				err = r.deleteClientSide(name)
			} else {
				err = r.delete(name, o)
			}
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// checkObjects checks that every word names an object.
func checkObjects(c *checker, s *Step) error {
	for _, w := range s.Words() {
		if err := c.object(s, w); err != nil {
			return err
		}
	}
	if _, err := s.deleteOptions(); err != nil {
		return err
	}
	return nil
}

// deleteOptions reads the options of a delete.
func (s *Step) deleteOptions() (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	if v, ok := s.Param("cascade"); ok {
		p := map[string]metav1.DeletionPropagation{
			"background": metav1.DeletePropagationBackground,
			"foreground": metav1.DeletePropagationForeground,
			"orphan":     metav1.DeletePropagationOrphan,
		}[v]
		o.PropagationPolicy = &p
	}
	if v, ok := s.Param("grace-period"); ok {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return o, s.wrong("grace-period: %s is not a number of seconds", v)
		}
		o.GracePeriodSeconds = &n
	} else if s.flag("now") {
		one := int64(1)
		o.GracePeriodSeconds = &one
	}
	return o, nil
}

// delete deletes one object, "kind/name" or "namespace/kind/name".
func (r *Run) delete(object string, o metav1.DeleteOptions) error {
	t, err := r.target(object)
	if err != nil {
		return err
	}
	return r.act("delete "+object, func() error {
		return r.request(&fakeapi.Request{Verb: fakeapi.Delete, Kind: t.kind,
			Namespace: t.namespace, Name: t.name, Delete: o})
	})
}

// deleteClientSide starts a kubectl that cascades by itself. The process ends when the object is deleted.
func (r *Run) deleteClientSide(object string) error {
	t, err := r.target(object)
	if err != nil {
		return err
	}
	if r.registry.Reaper == nil {
		return r.errorf("--client-side: no client-side deletion is registered")
	}
	c, err := r.registry.Reaper(t.kind.GVK, t.namespace, t.name, func(err error) {
		if err != nil {
			r.telling.notes = append(r.telling.notes, "kubectl delete "+object+": "+render.WithoutUIDs(err.Error()))
		}
	})
	if err != nil {
		return r.errorf("--client-side: %v", err)
	}
	return r.act("kubectl delete "+object, func() error {
		name := c.Name
		if r.t.Cluster.Process(name) != nil {
			name = r.instanceName(name)
		}
		r.t.Start(name, c)
		return nil
	})
}
