package usage

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ofPod adds what a Pod that has not ended uses.
func ofPod(pod *corev1.Pod, out *Amounts) {
	out.set(corev1.ResourcePods, one())
	asked, limits := total(pod, asks), total(pod, limitsTo)
	asked.add(pod.Spec.Overhead)
	//detcheck:ordered amounts have no order
	for name, n := range pod.Spec.Overhead {
		if limits.Get(name) != nil {
			limits.plus(name, n)
		}
	}
	for i := range asked {
		name, n := asked[i].Name, asked[i].N
		switch {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out.set(name, n)
			out.set(requested(name), n)
		case extended(string(name)):
			out.set(requests+name, n)
		}
	}
	for _, l := range [...]struct{ name, limit corev1.ResourceName }{
		{corev1.ResourceCPU, corev1.ResourceLimitsCPU}, {corev1.ResourceMemory, corev1.ResourceLimitsMemory},
		{corev1.ResourceEphemeralStorage, corev1.ResourceLimitsEphemeralStorage}} {
		if n := limits.Get(l.name); n != nil {
			out.set(l.limit, *n)
		}
	}
}

// requested returns the name that limits requests of a resource.
func requested(name corev1.ResourceName) corev1.ResourceName {
	switch name {
	case corev1.ResourceCPU:
		return corev1.ResourceRequestsCPU
	case corev1.ResourceMemory:
		return corev1.ResourceRequestsMemory
	}
	return requests + name
}

func asks(r *corev1.ResourceRequirements) corev1.ResourceList     { return r.Requests }
func limitsTo(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// total returns the peak need of a Pod's containers: all containers and sidecars together, or one init container with
// the sidecars started before it. The Pod's own values override it.
func total(pod *corev1.Pod, of func(*corev1.ResourceRequirements) corev1.ResourceList) (sum Amounts) {
	for i := range pod.Spec.Containers {
		sum.add(of(&pod.Spec.Containers[i].Resources))
	}
	if len(pod.Spec.InitContainers) > 0 {
		most := begin(pod, &sum, of)
		sum.atLeast(most)
	}
	if own := pod.Spec.Resources; own != nil {
		//detcheck:ordered amounts have no order
		for name, n := range of(own) {
			sum.set(name, n)
		}
	}
	return sum
}

// begin returns the peak need of the init containers. Sidecars among them keep running beside the containers, so they
// are added to the sum.
func begin(pod *corev1.Pod, sum *Amounts,
	of func(*corev1.ResourceRequirements) corev1.ResourceList) (most Amounts) {
	var beside Amounts
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		var need Amounts
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sum.add(of(&c.Resources))
			beside.add(of(&c.Resources))
		} else {
			need.add(of(&c.Resources))
		}
		need.addAll(beside)
		most.atLeast(need)
	}
	return most
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// writtenOff reports whether a Pod should be gone by now. Its node may be lost, and its namespace must not suffer for
// that.
func writtenOff(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && UntilWrittenOff(pod, now) == 0
}

// UntilWrittenOff returns how long a terminating Pod still counts; 0 for others.
func UntilWrittenOff(pod *corev1.Pod, now time.Time) time.Duration {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	end := pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	return max(0, end.Sub(now)+1)
}

// TotalOf returns the peak requests and limits of a Pod's containers.
func TotalOf(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	return total(pod, asks).list(), total(pod, limitsTo).list()
}
