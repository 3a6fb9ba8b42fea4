package replicas

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// victims chooses n of the pods for deletion: those whose loss costs least.
func victims(pods []*corev1.Pod, n int) []*corev1.Pod {
	if n >= len(pods) {
		return pods
	}
	ranked := slices.Clone(pods)
	slices.SortStableFunc(ranked, cheaper)
	return ranked[:n]
}

// cheaper orders pods by what is lost with them: without a node before with,
// pending before unknown before running, not ready before ready, younger before
// older; then by name, so that the order is one.
func cheaper(a, b *corev1.Pod) int {
	return cmp.Or(
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseRank(a), phaseRank(b)),
		compareBool(ready(a), ready(b)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name),
	)
}

func phaseRank(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodUnknown:
		return 1
	case corev1.PodRunning:
		return 2
	}
	return 0
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
