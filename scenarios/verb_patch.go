package scenarios

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

var patchTypes = map[string]types.PatchType{
	"merge": types.MergePatchType, "json": types.JSONPatchType, "strategic": types.StrategicMergePatchType,
}

var verbPatch = &Verb{
	Name: "patch", Args: "KIND/NAME [type=merge|json|strategic] [subresource=status] PATCH", Min: 2, Max: 2,
	Summary: "change an object by a patch",
	Detail: `PATCH is JSON, or YAML in flow style, in quotes. The type is strategic unless it
says otherwise, as with kubectl. Edits of ownerReferences by a third party are
made with this verb. $(uid KIND/NAME) in it is the uid that this object has then.`,
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
		sub, _ := s.Param("subresource")
		return r.patchObject(s.Word(0), patchTypes[kind], sub, s.Word(1))
	},
}

// patchBody turns JSON or YAML into JSON.
func patchBody(text string) ([]byte, error) {
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// patchObject patches an object, or its subresource. The body is JSON or YAML.
func (r *Run) patchObject(object string, kind types.PatchType, subresource, body string) error {
	t, err := r.target(object)
	if err != nil {
		return err
	}
	data, err := patchBody(body)
	if err != nil {
		return r.errorf("bad patch: %v", err)
	}
	return r.patch("patch "+object, t, subresource, kind, data)
}

// patch sends a user patch with the uids that objects have at that time.
func (r *Run) patch(label string, t target, subresource string, kind types.PatchType, data []byte) error {
	return r.act(label, func() error {
		data, err := manifest.ReplaceUIDs(data, r.uid)
		if err != nil {
			return err
		}
		return r.send(t, subresource, kind, data)
	})
}
