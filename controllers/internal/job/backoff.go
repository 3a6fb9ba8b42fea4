package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// backoff holds how many pods of a Job have failed since the last success, and when the last one did.
type backoff struct {
	failures int
	last     time.Time
}

// after returns the backoff after more pods have ended.
func (b backoff) after(succeeded, failed []*corev1.Pod) backoff {
	if len(succeeded) == 0 {
		if len(failed) > 0 {
			b.failures += len(failed)
			b.last = endedAt(slices.MaxFunc(failed, sooner))
		}
		return b
	}
	b = backoff{}
	success := endedAt(slices.MaxFunc(succeeded, sooner))
	for _, p := range failed {
		if at := endedAt(p); at.After(success) {
			b.failures++
			b.last = later(b.last, at)
		}
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func sooner(a, b *corev1.Pod) int { return endedAt(a).Compare(endedAt(b)) }

// remaining returns how long to wait before creating a pod.
func (b backoff) remaining(now time.Time) time.Duration {
	if b.failures == 0 {
		return 0
	}
	wait := firstBackoff
	for range b.failures - 1 {
		wait = min(2*wait, maxBackoff)
	}
	return max(0, wait-now.Sub(b.last))
}

// endedAt returns when a pod ended: when its last container did, or else when it became unready, was deleted, or was
// created.
func endedAt(p *corev1.Pod) time.Time {
	if at := containersEnded(p); !at.IsZero() {
		return at
	}
	if c := pod.Condition(p, corev1.PodReady); c != nil && c.Status == corev1.ConditionFalse &&
		!c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	if p.DeletionTimestamp != nil {
		grace := int64(0)
		if p.DeletionGracePeriodSeconds != nil {
			grace = *p.DeletionGracePeriodSeconds
		}
		return p.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
	}
	return p.CreationTimestamp.Time
}

// containersEnded returns when the last container of a pod ended, including sidecars; zero unless all have.
func containersEnded(p *corev1.Pod) time.Time {
	var last time.Time
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Terminated == nil || s.State.Terminated.FinishedAt.IsZero() {
			last = time.Time{}
			break
		}
		last = later(last, s.State.Terminated.FinishedAt.Time)
	}
	for _, s := range p.Status.InitContainerStatuses {
		if !sidecar(p, s.Name) {
			continue
		}
		if s.State.Terminated == nil || s.State.Terminated.FinishedAt.IsZero() {
			return time.Time{}
		}
		last = later(last, s.State.Terminated.FinishedAt.Time)
	}
	return last
}

func sidecar(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}
