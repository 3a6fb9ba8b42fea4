package scenarios

import (
	"errors"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

var verbApply = &Verb{
	Name: "apply", Args: "SECTION...", Min: 1, Max: -1,
	Summary: "create the objects of a section, or merge them into those that exist",
	Detail: `The manifests of the section are sent in order. If an object exists, its manifest is sent
as a JSON merge patch, so other fields stay the same. $(uid KIND/NAME) in a value is
replaced by the UID of that object when the manifest is sent. After a
CustomResourceDefinition, later steps can use its kind.`,
	Example: "apply world.yaml",
	acts:    true,
	sends:   true,
	check:   checkManifests,
	run:     func(r *Run, s *Step) error { return r.eachSection(s, r.file.exactly, r.apply) },
}

var verbCreate = &Verb{
	Name: "create", Args: "SECTION...", Min: 1, Max: -1,
	Summary: "create the objects of a section",
	Detail:  `If an object exists, the server refuses the request with 409 AlreadyExists.`,
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

// apply checks the manifests in a section, and defines the kinds of its CRDs for later steps.
func (c *checker) apply(s *Step, sec *section) error {
	all, err := c.file.manifests(sec, c.server)
	if err != nil {
		return err
	}
	text := c.file.text(sec)
	var refused error
	for _, m := range all {
		if c.server.Kind(m.Kind.GVK) == nil {
			return misread(text.Wrong(m.Line, "unknown kind %s: apply its CRD first", m.Kind.GVK.Kind))
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

// eachSection sends the manifests in the sections that a step names. If the server refuses a manifest, eachSection
// sends the other manifests, and then returns the first refusal.
func (r *Run) eachSection(s *Step, find func(name string) []*section, send func(*manifest.Manifest) error) error {
	var first *refused
	all, err := r.manifests(s, find)
	if err != nil {
		return err
	}
	if r.sends != nil {
		all = r.sends(all)
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

// apply creates an object, or merges the manifest into the existing object.
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
	Args:    "KIND/NAME... [--cascade=POLICY] [--grace-period=SECONDS] [--now] [--ignore-not-found] [--client-side]",
	Summary: "delete objects",
	Detail: `Without --cascade, the default policy of the kind applies. --client-side does what
kubectl did before there was a garbage collector. It scales the object to zero, waits
until the status reports zero, and deletes the object with the policy orphan.`,
	Example: "delete rs/web-a --cascade=orphan",
	Params: []Param{
		{Name: "cascade", Summary: "propagation policy", Values: []string{"background", "foreground", "orphan"}},
		{Name: "grace-period", Summary: "seconds; 0 removes at once"},
		{Name: "now", Summary: "the same as --grace-period=1", Values: []string{"true", "false"}},
		{Name: "ignore-not-found", Summary: "a missing object is no error", Values: []string{"true", "false"}},
		{Name: "client-side", Summary: "cascade like old kubectl", Values: []string{"true", "false"}},
	},
	acts:  true,
	check: checkObjects,
	run: func(r *Run, s *Step) error {
		o, err := s.deleteOptions()
		if err != nil {
			return err
		}
		for _, name := range s.Words() {
			t, err := r.target(name)
			if err != nil {
				return err
			}
			if s.flag("client-side") {
				err = r.deleteClientSide(name, t)
			} else {
				err = r.act("delete "+name, func() error {
					if s.flag("ignore-not-found") && r.t.Server.Lookup(t.kind, t.namespace, t.name) == nil {
						return nil
					}
					return r.request(&fakeapi.Request{Verb: fakeapi.Delete, Kind: t.kind,
						Namespace: t.namespace, Name: t.name, Delete: o})
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	},
}

func checkObjects(c *checker, s *Step) error {
	if err := c.objects(s); err != nil {
		return err
	}
	_, err := s.deleteOptions()
	return err
}

func (c *checker) objects(s *Step) error {
	for _, w := range s.Words() {
		if err := c.object(s, w); err != nil {
			return err
		}
	}
	return nil
}

func (s *Step) deleteOptions() (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	if v, ok := s.Param("cascade"); ok {
		policy := metav1.DeletionPropagation(strings.ToUpper(v[:1]) + v[1:])
		o.PropagationPolicy = &policy
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

// deleteClientSide starts a process that scales the object to zero, waits, and deletes the object, like old versions of
// kubectl.
func (r *Run) deleteClientSide(object string, t target) error {
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
