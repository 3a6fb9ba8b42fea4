package scenarios

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
)

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
