package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

var patchTypes = map[string]types.PatchType{
	"merge": types.MergePatchType, "json": types.JSONPatchType, "strategic": types.StrategicMergePatchType,
}

var verbPatch = &Verb{
	Name: "patch", Args: "KIND/NAME [type=merge|json|strategic] [subresource=status] PATCH", Min: 2, Max: 2,
	Summary: "change an object by a patch",
	Detail: `PATCH is JSON, or YAML in flow style, in quotes. The default type is a strategic merge
patch, as with kubectl. You can also edit ownerReferences, like a third-party program.
$(uid KIND/NAME) is replaced by the UID of that object when the patch is sent.`,
	Example: "patch pod/p1 type=merge '{metadata: {ownerReferences: null}}'",
	Params: []Param{
		{Name: "type", Summary: "merge, json or strategic", Values: []string{"merge", "json", "strategic"}},
		{Name: "subresource", Summary: "status", Values: []string{"status"}},
	},
	acts: true,
	check: func(c *checker, s *Step) error {
		body, err := patchBody(s.Word(1))
		if err != nil {
			return s.wrong("bad patch: %v", err)
		}
		if err := checkUIDs(servers{c.server}, s, body); err != nil {
			return err
		}
		t, err := parseTarget(servers{c.server}, s, s.Word(0))
		if err != nil {
			return err
		}
		definition, _ := t.kind.Definition()
		if how, _ := s.Param("type"); definition != nil && (how == "" || how == "strategic") && !s.Expect {
			return s.wrong("%s is a custom kind, which the server does not patch strategically: "+
				"say type=merge, or json",
				t.kind.GVK.Kind)
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		kind, ok := s.Param("type")
		if !ok {
			kind = "strategic"
		}
		t, err := r.target(s.Word(0))
		if err != nil {
			return err
		}
		data, err := patchBody(s.Word(1))
		if err != nil {
			return s.wrong("bad patch: %v", err)
		}
		sub, _ := s.Param("subresource")
		return r.patch("patch "+s.Word(0), t, sub, patchTypes[kind], data)
	},
}

func patchBody(text string) ([]byte, error) {
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// patch sends a patch by the user. The $(uid ...) expressions in data are replaced when the patch is sent.
func (r *Run) patch(label string, t target, subresource string, kind types.PatchType, data []byte) error {
	return r.act(label, func() error {
		data, err := manifest.ReplaceUIDs(data, r.uid)
		if err != nil {
			return err
		}
		return r.send(t, subresource, kind, data)
	})
}

var (
	verbLabel    = setsMeta("label", "labels", "label pod/p1 app=other tier-")
	verbAnnotate = setsMeta("annotate", "annotations", "annotate rs/web-a note='hands off'")
)

func setsMeta(name, field, example string) *Verb {
	return &Verb{
		Name: name, Args: "KIND/NAME KEY=VALUE... KEY-...", Min: 2, Max: -1, Raw: true,
		Summary: "set or remove " + field,
		Detail:  "KEY- removes a key. Existing " + field + " are overwritten.",
		Example: example,
		acts:    true,
		check:   checkPairs,
		run: func(r *Run, s *Step) error {
			t, err := r.target(s.Word(0))
			if err != nil {
				return err
			}
			m, what := pairs(s.Words()[1:])
			if what != "" {
				return s.wrong("%s", what)
			}
			data, err := json.Marshal(map[string]any{"metadata": map[string]any{field: m}})
			if err != nil {
				panic("scenarios: " + err.Error())
			}
			return r.patch(name+" "+s.Word(0), t, "", types.MergePatchType, data)
		},
	}
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

// pairs parses KEY=VALUE and KEY-. The value of a key that is to be removed is nil.
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

var verbScale = &Verb{
	Name: "scale", Args: "KIND/NAME replicas=N", Min: 1, Max: 1,
	Summary: "change spec.replicas",
	Detail: `The step patches the object. For a custom resource, it uses the subresource scale, which
the CRD must define.`,
	Example: "scale rs/web-a replicas=3",
	Params:  []Param{{Name: "replicas", Summary: "the number"}},
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
		t, err := r.target(s.Word(0))
		if err != nil {
			return err
		}
		subresource := ""
		if definition, _ := t.kind.Definition(); definition != nil {
			subresource = "scale"
		}
		return r.act("scale "+s.Word(0)+" "+strconv.Itoa(n), func() error {
			return r.send(t, subresource, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
		})
	},
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
