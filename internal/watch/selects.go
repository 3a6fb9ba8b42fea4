package watch

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// claims are the kinds whose objects claim others by what they select, with the kinds that
// these are of (pkg/controller of k8s.io/kubernetes v1.36).
var claims = map[[2]string][]string{
	{"", "ReplicationController"}: {"Pod"},
	{"apps", "ReplicaSet"}:        {"Pod"},
	{"apps", "StatefulSet"}:       {"Pod", "ControllerRevision"},
	{"apps", "DaemonSet"}:         {"Pod", "ControllerRevision"},
	{"batch", "Job"}:              {"Pod"},
	{"apps", "Deployment"}:        {"ReplicaSet"},
}

// claimed are the kinds of what is claimed.
var claimed = []string{"Pod", "ReplicaSet", "ControllerRevision"}

// claimable reports whether objects of a kind are claimed by what somebody selects.
func (k *Kind) claimable() bool {
	return slices.Contains(claimed, k.Kind) && (k.Group == "" || k.Group == "apps")
}

// selects reports whether an owner would claim an object, whoever has it now.
func (o *object) selects(x *object) bool {
	return o.selector != nil && !o.terminating() && o.namespace == x.namespace &&
		slices.Contains(claims[[2]string{o.of.Group, o.of.Kind}], x.of.Kind) &&
		o.selector.Matches(labels.Set(x.labels))
}

// know reads what a detector asks of some kinds beside their metadata.
func (o *object) know(members map[string]json.RawMessage) {
	switch key := [2]string{o.of.Group, o.of.Kind}; {
	case claims[key] != nil:
		o.knowSelector(members["spec"])
	case key == [2]string{"", "Pod"}:
		var spec struct{ NodeName string }
		var status struct{ Phase string }
		_, _ = json.Unmarshal(members["spec"], &spec), json.Unmarshal(members["status"], &status)
		o.node, o.ended = spec.NodeName, status.Phase == "Succeeded" || status.Phase == "Failed"
	case key == [2]string{"", "Namespace"} && o.terminating():
		var status struct {
			Conditions []struct{ Type, Status, Message string }
		}
		_ = json.Unmarshal(members["status"], &status)
		for _, c := range status.Conditions {
			if c.Status == "True" {
				o.waits = append(o.waits, c.Message)
			}
		}
	}
}

func (o *object) knowSelector(raw json.RawMessage) {
	var spec struct {
		Replicas *int
		Selector json.RawMessage
	}
	if json.Unmarshal(raw, &spec) != nil {
		return
	}
	if spec.Replicas != nil {
		o.wants = *spec.Replicas
	}
	if o.of.Kind == "ReplicationController" {
		var set labels.Set
		if json.Unmarshal(spec.Selector, &set) == nil && len(set) > 0 {
			o.selector = set.AsSelector()
		}
		return
	}
	var s metav1.LabelSelector
	if json.Unmarshal(spec.Selector, &s) != nil {
		return
	}
	if sel, err := metav1.LabelSelectorAsSelector(&s); err == nil && !sel.Empty() {
		o.selector = sel
	}
}
