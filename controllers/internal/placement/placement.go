// Package placement decides which nodes a pod may run on: by taints and tolerations, node selector and required node
// affinity. The scheduler and the DaemonSet controller use it.
package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/threelaws/threelaws/controllers/internal/ref"
)

// Untolerated reports whether a node has a taint with one of the effects, and no toleration matches this taint.
func Untolerated(node *corev1.Node, tolerations []corev1.Toleration, effects ...corev1.TaintEffect) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return slices.Contains(effects, taint.Effect) && !Tolerated(&taint, tolerations)
	})
}

// Tolerated reports whether a toleration matches a taint. A toleration whose operator compares numbers matches nothing,
// because the feature gate of these operators is off.
func Tolerated(taint *corev1.Taint, tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			return false
		}
		switch t.Operator {
		case "", corev1.TolerationOpEqual:
			return t.Value == taint.Value
		case corev1.TolerationOpExists:
			return true
		}
		return false
	})
}

// Selected reports whether a pod's node selector and required node affinity select a node.
func Selected(spec *corev1.PodSpec, node *corev1.Node) bool {
	if !ref.Contains(node.Labels, spec.NodeSelector) {
		return false
	}
	required := required(spec)
	return required == nil || slices.ContainsFunc(required.NodeSelectorTerms,
		func(term corev1.NodeSelectorTerm) bool { return matches(&term, node) })
}

func required(spec *corev1.PodSpec) *corev1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// matches reports whether a node meets all requirements of a term. An empty or invalid term matches nothing.
func matches(term *corev1.NodeSelectorTerm, node *corev1.Node) bool {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return false
	}
	for _, r := range term.MatchExpressions {
		if !meets(&r, node.Labels) {
			return false
		}
	}
	for _, r := range term.MatchFields {
		if r.Key != metav1.ObjectNameField || !meets(&r, labels.Set{r.Key: node.Name}) {
			return false
		}
	}
	return true
}

// operators maps node selector operators to label selector operators. [meets] handles In and NotIn.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpExists:       selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt:           selection.GreaterThan,
	corev1.NodeSelectorOpLt:           selection.LessThan,
}

// meets evaluates a requirement as a label selector does. For In and NotIn it does not validate the values, because the
// value of a field need not be a valid label value.
func meets(r *corev1.NodeSelectorRequirement, have labels.Set) bool {
	value, exists := have[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return exists && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(r.Values, value) || !exists
	}
	requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
	return err == nil && requirement.Matches(have)
}

// Target returns the node of a pod. If the pod has none, Target returns the node that the pod's required affinity
// names, as in a DaemonSet's pods (RULES G73). It returns "" if the affinity names none, or several in its first list.
func Target(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	required := required(&pod.Spec)
	if required == nil {
		return ""
	}
	for _, term := range required.NodeSelectorTerms {
		for _, r := range term.MatchFields {
			if r.Key != metav1.ObjectNameField || r.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if len(r.Values) != 1 {
				return ""
			}
			return r.Values[0]
		}
	}
	return ""
}
