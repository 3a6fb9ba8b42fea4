package usage

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ofPod puts into a list what a Pod that has not ended uses.
func ofPod(pod *corev1.Pod, out corev1.ResourceList) {
	out[corev1.ResourcePods] = one()
	asked, limits := total(pod, asks), total(pod, limitsTo)
	Add(asked, pod.Spec.Overhead)
	for name, n := range pod.Spec.Overhead {
		if l, limited := limits[name]; limited {
			l = l.DeepCopy()
			l.Add(n)
			limits[name] = l
		}
	}
	for name, n := range asked {
		switch {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out[name], out[requests+name] = n, n
		case extended(string(name)):
			out[requests+name] = n
		}
	}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory,
		corev1.ResourceEphemeralStorage} {
		if n, ok := limits[name]; ok {
			out["limits."+name] = n
		}
	}
}

func asks(r *corev1.ResourceRequirements) corev1.ResourceList     { return r.Requests }
func limitsTo(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// total is what the containers of a Pod need at the time when they need most: all
// containers and sidecars together, or one init container beside the sidecars that
// run before it. What the Pod says for itself goes before that.
func total(pod *corev1.Pod, of func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		Add(sum, of(&pod.Spec.Containers[i].Resources))
	}
	if len(pod.Spec.InitContainers) > 0 {
		atLeast(sum, begin(pod, sum, of))
	}
	if own := pod.Spec.Resources; own != nil {
		for name, n := range of(own) {
			sum[name] = n
		}
	}
	return sum
}

// begin is what an init container needs at the time when one of them needs most. The
// sidecars among them go on beside the containers, so they are added to the sum.
func begin(pod *corev1.Pod, sum corev1.ResourceList,
	of func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	beside, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		need := corev1.ResourceList{}
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			Add(sum, of(&c.Resources))
			Add(beside, of(&c.Resources))
		} else {
			Add(need, of(&c.Resources))
		}
		Add(need, beside)
		atLeast(most, need)
	}
	return most
}

// atLeast raises the entries of a list to those of another.
func atLeast(have, least corev1.ResourceList) {
	for name, n := range least {
		if m, ok := have[name]; !ok || n.Cmp(m) > 0 {
			have[name] = n
		}
	}
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// writtenOff: a Pod should be gone by now. Its node may be lost, and its namespace is
// not to suffer for that.
func writtenOff(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && UntilWrittenOff(pod, now) == 0
}

// UntilWrittenOff is how long a Pod that is being deleted counts yet; 0 for others.
func UntilWrittenOff(pod *corev1.Pod, now time.Time) time.Duration {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	end := pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	return max(0, end.Sub(now)+1)
}

// TotalOf is what the containers of a Pod ask for, and what they are limited to, at the
// time when that is most.
func TotalOf(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	return total(pod, asks), total(pod, limitsTo)
}
