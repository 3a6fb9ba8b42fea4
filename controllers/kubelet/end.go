package kubelet

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// exitCode is the annotation that says with which code a pod's containers exit; 0
// without it.
const exitCode = "threelaws.example/exit-code"

// ended patches the status of a running pod so that it has ended: a container here
// has nothing to do, and ends as soon as it runs. The pod has succeeded or failed, by
// the exit code of its containers. It is nil for one that runs on: one whose
// containers are always started again, or are as they have failed. That they were
// started again is not shown.
func ended(pod *corev1.Pod) []byte {
	code, _ := strconv.Atoi(pod.Annotations[exitCode])
	switch {
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways,
		pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && code != 0:
		return nil
	}
	status := corev1.PodStatus{Phase: corev1.PodSucceeded, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodCompleted"}}}
	reason := "Completed"
	if code != 0 {
		status.Phase, status.Conditions[0].Reason, reason = corev1.PodFailed, "PodFailed", "Error"
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), Reason: reason}},
		})
	}
	return statusPatch(pod, status)
}
