package scenarios

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

var verbScale = &Verb{
	Name: "scale", Args: "KIND/NAME replicas=N", Min: 1, Max: 1,
	Summary: "change spec.replicas",
	Detail:  `It writes the object itself, by a merge patch.`,
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
		return c.object(s, s.Word(0))
	},
	run: func(r *Run, s *Step) error {
		n, err := s.number("replicas", 0)
		if err != nil {
			return err
		}
		return r.Scale(s.Word(0), n)
	},
}

// Scale sets spec.replicas of an object.
func (r *Run) Scale(object string, replicas int) error {
	t, err := r.target(object)
	if err != nil {
		return err
	}
	return r.scale(object, t, replicas)
}

func (r *Run) scale(object string, t target, replicas int) error {
	data := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	return r.act("scale "+object+" "+strconv.Itoa(replicas), func() error {
		return r.patch(t, "", types.MergePatchType, data)
	})
}
