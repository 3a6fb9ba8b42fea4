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
	run:     func(r *Run, s *Step) error { return r.Label(s.Word(0), s.Words()[1:]...) },
}

var verbAnnotate = &Verb{
	Name: "annotate", Args: "KIND/NAME KEY=VALUE... KEY-...", Min: 2, Max: -1, Raw: true,
	Summary: "set or remove annotations",
	Detail:  `KEY- removes. Existing annotations are overwritten.`,
	Example: "annotate rs/web-a note='hands off'",
	acts:    true,
	check:   checkPairs,
	run:     func(r *Run, s *Step) error { return r.Annotate(s.Word(0), s.Words()[1:]...) },
}

func checkPairs(c *checker, s *Step) error {
	if err := c.object(s, s.Word(0)); err != nil {
		return err
	}
	if _, what := pairs(s.Words()[1:]); what != "" {
		return s.wrong("%s", what)
	}
	return nil
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

// Label sets labels of an object: "key=value", or "key-" to remove one.
func (r *Run) Label(object string, words ...string) error {
	return r.setMeta("label", "labels", object, words)
}

// Annotate sets annotations of an object: "key=value", or "key-" to remove one.
func (r *Run) Annotate(object string, words ...string) error {
	return r.setMeta("annotate", "annotations", object, words)
}

func (r *Run) setMeta(verb, field, object string, words []string) error {
	t, err := r.target(object)
	if err != nil {
		return err
	}
	m, what := pairs(words)
	if what != "" {
		return r.errorf("%s", what)
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{field: m}})
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return r.act(verb+" "+object, func() error { return r.patch(t, "", types.MergePatchType, data) })
}
