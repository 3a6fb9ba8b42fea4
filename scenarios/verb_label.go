package scenarios

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

var verbLabel = &Verb{
	Name: "label", Args: "KIND/NAME KEY=VALUE... KEY-...", Min: 2, Max: -1, Raw: true,
	Summary: "set or remove labels",
	Detail:  `KEY- removes. Existing labels are overwritten.`,
	Example: "label pod/p1 app=other tier-",
	acts:    true,
	check:   checkPairs,
	run:     func(r *Run, s *Step) error { return r.setMeta(s, "labels") },
}

var verbAnnotate = &Verb{
	Name: "annotate", Args: "KIND/NAME KEY=VALUE... KEY-...", Min: 2, Max: -1, Raw: true,
	Summary: "set or remove annotations",
	Detail:  `KEY- removes. Existing annotations are overwritten.`,
	Example: "annotate rs/web-a note='hands off'",
	acts:    true,
	check:   checkPairs,
	run:     func(r *Run, s *Step) error { return r.setMeta(s, "annotations") },
}

func checkPairs(c *checker, s *Step) error {
	if err := c.object(s, s.Word(0)); err != nil {
		return err
	}
	if _, what := pairs(s.Words()[1:]); what != "" {
		return s.wrong("%s", what)
	}
	return checkUIDs(servers{c.server}, s, []byte(strings.Join(s.Words()[1:], " ")))
}

// pairs reads KEY=VALUE and KEY-; a removed key has a nil value.
func pairs(words []string) (map[string]any, string) {
	m := map[string]any{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case ok && key != "":
			m[key] = value
		case strings.HasSuffix(w, "-") && len(w) > 1:
			m[w[:len(w)-1]] = nil
		default:
			return nil, w + " is neither KEY=VALUE nor KEY-"
		}
	}
	return m, ""
}

// setMeta sets and removes pairs of a field of the metadata.
func (r *Run) setMeta(s *Step, field string) error {
	object := s.Word(0)
	t, err := r.target(object)
	if err != nil {
		return err
	}
	m, what := pairs(s.Words()[1:])
	if what != "" {
		return r.errorf("%s", what)
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{field: m}})
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return r.patch(s.Verb+" "+object, t, "", types.MergePatchType, data)
}
