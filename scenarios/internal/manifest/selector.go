package manifest

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// checkSelector refuses an object whose selector does not match the labels of its own template. No request is sent.
func (d *decoder) checkSelector(n *yaml.Node, tree any) error {
	spec, _ := field(tree, "spec").(map[string]any)
	template, _ := field(spec, "template", "metadata", "labels").(map[string]any)
	if _, ok := spec["template"]; !ok {
		return nil
	}
	raw, ok := spec["selector"].(map[string]any)
	if !ok || len(raw) == 0 {
		return nil
	}
	selector, err := toSelector(raw)
	at := find(n, "spec.selector")
	if err != nil {
		return d.Wrong(d.line(at), "spec.selector: %v", err)
	}
	set := labels.Set{}
	for k, v := range template {
		if s, ok := v.(string); ok {
			set[k] = s
		}
	}
	manual := spec["manualSelector"] == true
	if field(tree, "kind") == "Job" && !manual || selector.Matches(set) {
		return nil
	}
	has := set.String()
	if has == "" {
		has = "(none)"
	}
	return d.Wrong(d.line(at), "spec.selector %s does not match the template's labels %s", selector, has)
}

// toSelector reads a label selector in either form.
func toSelector(raw map[string]any) (labels.Selector, error) {
	_, match := raw["matchLabels"]
	_, expressions := raw["matchExpressions"]
	if !match && !expressions {
		set := labels.Set{}
		for k, v := range raw {
			if s, ok := v.(string); ok {
				set[k] = s
			}
		}
		return set.AsSelector(), nil
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	var s metav1.LabelSelector
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&s)
}

// field returns the value at a path in a tree, or nil.
func field(tree any, path ...string) any {
	m, _ := tree.(map[string]any)
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	return v
}
