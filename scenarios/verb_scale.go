package scenarios

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

var verbScale = &Verb{
	Name: "scale", Args: "KIND/NAME replicas=N", Min: 1, Max: 1,
	Summary: "change spec.replicas",
	Detail: `It writes the object itself, by a merge patch. A custom resource is scaled through
its subresource scale, which its definition must have.`,
	Example: "scale rs/web-a replicas=3",
	Params:  []Param{{Name: "replicas", Summary: "how many"}},
	acts:    true,
	check: func(c *checker, s *Step) error {
		if _, ok := s.Param("replicas"); !ok {
			return s.wrong("replicas is missing: write replicas=N")
		}
		if _, err := s.number("replicas", 0); err != nil {
			return err
		}
		t, err := parseTarget(servers{c.server}, s, s.Word(0))
		if err != nil {
			return err
		}
		if what := scalable(t.kind); what != "" {
			return s.wrong("%s", what)
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		n, err := s.number("replicas", 0)
		if err != nil {
			return err
		}
		return r.scale(s.Word(0), n)
	},
}

// scale sets spec.replicas of an object.
func (r *Run) scale(object string, replicas int) error {
	t, err := r.target(object)
	if err != nil {
		return err
	}
	if what := scalable(t.kind); what != "" {
		return r.errorf("%s", what)
	}
	subresource := ""
	if definition, _ := t.kind.Definition(); definition != nil {
		subresource = "scale"
	}
	data := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	return r.act("scale "+object+" "+strconv.Itoa(replicas), func() error {
		return r.send(t, subresource, types.MergePatchType, data)
	})
}

// scalable returns why objects of a custom kind cannot be scaled, or "".
func scalable(k *fakeapi.Kind) string {
	d, v := k.Definition()
	if d == nil || v.Subresources != nil && v.Subresources.Scale != nil {
		return ""
	}
	return k.GVK.Kind + " cannot be scaled: " + d.Name + " has no subresource scale in version " + v.Name +
		"; patch it with type=merge"
}
