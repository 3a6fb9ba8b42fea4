package fakeapi

import (
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/metapatch"
)

// Preconditions returns the UID and resourceVersion that a write requires, from its options or body; "" for none.
func (r *Request) Preconditions() (uid types.UID, resourceVersion string) {
	switch r.Verb {
	case Delete:
		if p := r.Delete.Preconditions; p != nil {
			return ptr.Deref(p.UID, ""), ptr.Deref(p.ResourceVersion, "")
		}
	case Update:
		if m, ok := r.Object.(metav1.Object); ok {
			return m.GetUID(), m.GetResourceVersion()
		}
	case Patch:
		return patchPreconditions(r.PatchType, r.Patch)
	}
	return "", ""
}

// patchPreconditions returns the UID and resourceVersion that a patch requires. It ignores invalid patches.
func patchPreconditions(form types.PatchType, patch []byte) (uid types.UID, resourceVersion string) {
	if !mayName(patch, "uid") && !mayName(patch, "resourceVersion") {
		return "", ""
	}
	switch form {
	case types.JSONPatchType:
		return operationPreconditions(patch)
	case types.ApplyPatchType:
		body, err := yaml.YAMLToJSON(patch)
		if err != nil {
			return "", ""
		}
		patch = body
	default:
		if p, ok := metapatch.Parse(patch, form == types.StrategicMergePatchType); ok {
			uid, version := p.Names()
			return types.UID(uid), version
		}
	}
	var body map[string]json.RawMessage
	var metadata map[string]any
	if json.Unmarshal(patch, &body) != nil || json.Unmarshal(body["metadata"], &metadata) != nil {
		return "", ""
	}
	return namesIn(metadata)
}

func namesIn(metadata any) (uid types.UID, resourceVersion string) {
	fields, _ := metadata.(map[string]any)
	name, _ := fields["uid"].(string)
	resourceVersion, _ = fields["resourceVersion"].(string)
	return types.UID(name), resourceVersion
}

// mayName reports whether a JSON text may contain a field's name. After a backslash, the name may be escaped.
func mayName(text []byte, field string) bool {
	return bytes.Contains(text, []byte(field)) || bytes.IndexByte(text, '\\') >= 0
}

// operationPreconditions returns the UID and resourceVersion that the operations of a JSON patch test or set.
func operationPreconditions(patch []byte) (uid types.UID, resourceVersion string) {
	var operations []struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	if json.Unmarshal(patch, &operations) != nil {
		return "", ""
	}
	for _, o := range operations {
		if o.Op != "test" && o.Op != "add" && o.Op != "replace" {
			continue
		}
		text, isText := o.Value.(string)
		switch {
		case o.Path == "/metadata":
			uid, resourceVersion = namesIn(o.Value)
		case o.Path == "/metadata/uid" && isText:
			uid = types.UID(text)
		case o.Path == "/metadata/resourceVersion" && isText:
			resourceVersion = text
		}
	}
	return uid, resourceVersion
}
