package watch

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// claims lists the kinds whose objects adopt others by selector, with the adopted kinds (pkg/controller of
// k8s.io/kubernetes v1.36).
var claims = map[[2]string][]string{
	{"", "ReplicationController"}: {"Pod"},
	{"apps", "ReplicaSet"}:        {"Pod"},
	{"apps", "StatefulSet"}:       {"Pod", "ControllerRevision"},
	{"apps", "DaemonSet"}:         {"Pod", "ControllerRevision"},
	{"batch", "Job"}:              {"Pod"},
	{"apps", "Deployment"}:        {"ReplicaSet"},
}

// claimed lists the adopted kinds.
var claimed = []string{"Pod", "ReplicaSet", "ControllerRevision"}

// claimable reports whether some owner adopts objects of a kind by selector.
func (k *Kind) claimable() bool {
	return slices.Contains(claimed, k.Kind) && (k.Group == "" || k.Group == "apps")
}

// selects reports whether an owner would adopt an object, whoever controls it now.
func (o *Version) selects(x *Version) bool {
	return o.selector != nil && !o.terminating() && o.Namespace == x.Namespace &&
		slices.Contains(claims[[2]string{o.of.Group, o.of.Kind}], x.of.Kind) &&
		o.selector.Matches(labels.Set(x.Labels))
}

// know reads the fields beside metadata that a check needs.
func (o *Version) know(content map[string]any) {
	switch key := [2]string{o.of.Group, o.of.Kind}; {
	case claims[key] != nil:
		o.knowSelector(content["spec"])
	case key == [2]string{"", "Pod"}:
		o.node, _, _ = unstructured.NestedString(content, "spec", "nodeName")
		phase, _, _ := unstructured.NestedString(content, "status", "phase")
		o.ended = phase == "Succeeded" || phase == "Failed"
	case key == [2]string{"", "Namespace"} && o.terminating():
		var status struct {
			Conditions []metav1.Condition `json:"conditions"`
		}
		convert(content["status"], &status)
		for _, c := range status.Conditions {
			if c.Status == metav1.ConditionTrue {
				o.waits = append(o.waits, c.Message)
			}
		}
	}
}

func (o *Version) knowSelector(content any) {
	var spec struct {
		Replicas *int           `json:"replicas"`
		Selector map[string]any `json:"selector"`
	}
	if !convert(content, &spec) {
		return
	}
	if spec.Replicas != nil {
		o.wants = *spec.Replicas
	}
	if o.of.Kind == "ReplicationController" {
		spec.Selector = map[string]any{"matchLabels": spec.Selector}
	}
	var s metav1.LabelSelector
	if !convert(spec.Selector, &s) {
		return
	}
	if sel, err := metav1.LabelSelectorAsSelector(&s); err == nil && !sel.Empty() {
		o.selector = sel
	}
}

// convert decodes a part of an object into a struct with JSON tags.
func convert(content, into any) bool {
	m, ok := content.(map[string]any)
	return ok && runtime.DefaultUnstructuredConverter.FromUnstructured(m, into) == nil
}
