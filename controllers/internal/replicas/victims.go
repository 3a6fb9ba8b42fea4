package replicas

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// victims chooses n of the pods for deletion: those whose loss costs least.
func victims(pods []*corev1.Pod, n int) []*corev1.Pod {
	if n >= len(pods) {
		return pods
	}
	ranked := slices.Clone(pods)
	slices.SortStableFunc(ranked, pod.Before)
	return ranked[:n]
}
