package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var nodes = goType[corev1.Node, corev1.NodeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Node"), Resource: "nodes", Singular: "node", ShortNames: []string{"no"},
	Default: On(defaultNode), Status: true,
	strategy: strategy{
		Prefix: "minions",
		Admit:  taintNewNode,
		Plugin: "TaintNodesByCondition",
		PrepareCreate: On(func(n *corev1.Node) {
			n.Spec.ConfigSource, n.Status.Config = nil, nil
		}),
		Create: validation.Node.Create,
		Main: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Status = old.Status
			if old.Spec.ConfigSource == nil {
				n.Spec.ConfigSource = nil
			}
		}), Judge: validation.Node.Update},
		ForStatus: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Spec = old.Spec
			if old.Status.Config == nil {
				n.Status.Config = nil
			}
		}), Judge: validation.Node.Status},
		SelectableKeys: []string{"spec.unschedulable"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.unschedulable"] = strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		},
	},
})

func defaultNode(n *corev1.Node) {
	// The single range is the older field: it goes before the list, and is the first of it.
	switch s := &n.Spec; {
	case s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR):
		s.PodCIDRs = []string{s.PodCIDR}
	case len(s.PodCIDRs) > 0:
		s.PodCIDR = s.PodCIDRs[0]
	}
	coredefaults.SetObjectDefaults_Node(n)
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
