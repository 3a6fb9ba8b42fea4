package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var nodes = goType[corev1.Node, corev1.NodeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Node"), Resource: "nodes", Singular: "node", ShortNames: []string{"no"},
	Default: On(defaultNode), Status: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Prefix:   "minions",
		Admit:    taintNewNode,
		PrepareCreate: On(func(n *corev1.Node) {
			n.Spec.ConfigSource, n.Status.Config = nil, nil
		}),
		ValidateCreate: Check(validation.Node), WarnCreate: Warns(validation.WarnNode),
		Main: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Status = old.Status
			if old.Spec.ConfigSource == nil {
				n.Spec.ConfigSource = nil
			}
		}), Validate: changedNode, again: checks{onCreate}, Warn: WarnsAgain(validation.WarnNode)},
		ForStatus: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Spec = old.Spec
			if old.Status.Config == nil {
				n.Status.Config = nil
			}
		}), Validate: Compare(validation.NodeUpdate), again: checks{onUpdate}},
		SelectableKeys: []string{"spec.unschedulable"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.unschedulable"] = strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		},
	},
})

// changedNode checks the whole, the metadata's change and what may not change, in this order.
func changedNode(obj, old runtime.Object) field.ErrorList {
	n, was := obj.(*corev1.Node), old.(*corev1.Node)
	errs := validation.Node(n)
	if !metadata.Sound(n, was) {
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(n, was, metadata.Path)...)
		errs = append(errs, metadata.ValidateFinalizers(n)...)
	}
	return append(errs, validation.NodeUpdate(n, was)...)
}

func defaultNode(n *corev1.Node) {
	// The single range is the older field: it goes before the list, and is the first of it.
	switch s := &n.Spec; {
	case s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR):
		s.PodCIDRs = []string{s.PodCIDR}
	case len(s.PodCIDRs) > 0:
		s.PodCIDR = s.PodCIDRs[0]
	}
	roundUp(&n.Status.Capacity, &n.Status.Allocatable)
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
