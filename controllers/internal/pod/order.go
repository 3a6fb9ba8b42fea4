package pod

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Before orders active pods by what is lost with them, the least first: without a
// node before with one; pending before unknown before running; not ready before
// ready; ready for a shorter time; restarted more often; younger. Pods that are
// equal in all that have no order: who sorts says in which they stay.
func Before(a, b *corev1.Pod) int {
	return cmp.Or(Stage(a, b), Later(ReadySince(a), ReadySince(b)), Restarts(a, b),
		Later(a.CreationTimestamp.Time, b.CreationTimestamp.Time))
}

// Stage orders pods by how far they have come: without a node before with one,
// pending before unknown before running, not ready before ready.
func Stage(a, b *corev1.Pod) int {
	return cmp.Or(
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phase(a), phase(b)),
		compareBool(Ready(a), Ready(b)),
	)
}

func phase(p *corev1.Pod) int {
	switch p.Status.Phase {
	case corev1.PodUnknown:
		return 1
	case corev1.PodRunning:
		return 2
	}
	return 0
}

// ReadySince is since when a pod is ready; zero where it is not, or does not say.
func ReadySince(p *corev1.Pod) time.Time {
	if c := ReadyCondition(p); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// Restarts orders pods that were restarted more often first: by their containers,
// then by the init containers that keep running.
func Restarts(a, b *corev1.Pod) int {
	containersA, sidecarsA := restarts(a)
	containersB, sidecarsB := restarts(b)
	return cmp.Or(cmp.Compare(containersB, containersA), cmp.Compare(sidecarsB, sidecarsA))
}

// restarts are how often the most restarted of a pod's containers and of its
// sidecars was.
func restarts(p *corev1.Pod) (containers, sidecars int32) {
	for i := range p.Status.ContainerStatuses {
		containers = max(containers, p.Status.ContainerStatuses[i].RestartCount)
	}
	for i := range p.Status.InitContainerStatuses {
		s := &p.Status.InitContainerStatuses[i]
		for j := range p.Spec.InitContainers {
			c := &p.Spec.InitContainers[j]
			if c.Name == s.Name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				sidecars = max(sidecars, s.RestartCount)
			}
		}
	}
	return containers, sidecars
}

// Later orders the later of two moments first; one that is not known is the
// latest.
func Later(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return compareBool(!a.IsZero(), !b.IsZero())
	}
	return b.Compare(a)
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
