package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

var nodes = goType[corev1.Node, corev1.NodeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Node"), Resource: "nodes", Singular: "node", ShortNames: []string{"no"},
	Default: On(defaultNode), Status: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Prefix:   "minions",
		Admit:    taintNewNode,
		Main: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Status = old.Status
		}), again: checks{onCreate, onUpdate}},
		ForStatus: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Spec = old.Spec
		}), again: checks{onCreate, onUpdate}},
		SelectableKeys: []string{"spec.unschedulable"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.unschedulable"] = strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		},
	},
})

func defaultNode(n *corev1.Node) {
	if n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
}

// taintNewNode is what the TaintNodesByCondition plugin does: nothing is
// scheduled to a node before its kubelet says that it is ready.
func taintNewNode(obj, old runtime.Object) error {
	n := obj.(*corev1.Node)
	if old != nil {
		return nil
	}
	for _, t := range n.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule {
			return nil
		}
	}
	n.Spec.Taints = append(n.Spec.Taints,
		corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	return nil
}
