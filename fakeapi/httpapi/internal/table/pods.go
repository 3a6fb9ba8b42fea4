package table

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podEnded(p *corev1.Pod) []metav1.TableRowCondition {
	switch phase := p.Status.Phase; phase {
	case corev1.PodSucceeded:
		return completed(phase, "The pod has completed successfully.")
	case corev1.PodFailed:
		return completed(phase, "The pod failed.")
	}
	return nil
}

func completed(phase corev1.PodPhase, message string) []metav1.TableRowCondition {
	return []metav1.TableRowCondition{
		{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(phase), Message: message},
	}
}

func podCells(p *corev1.Pod, now time.Time) []any {
	s := summarise(p)
	restarts := strconv.Itoa(s.restarts)
	if s.restarts != 0 && !s.last.IsZero() {
		restarts = fmt.Sprintf("%d (%s ago)", s.restarts, since(s.last, now))
	}
	ip := ""
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return []any{p.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.reason, restarts, since(p.CreationTimestamp, now),
		orNone(ip), orNone(p.Spec.NodeName), orNone(p.Status.NominatedNodeName), readinessGates(p)}
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	n := 0
	for _, gate := range p.Spec.ReadinessGates {
		if podCondition(p, gate.ConditionType) == corev1.ConditionTrue {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, len(p.Spec.ReadinessGates))
}

func podCondition(p *corev1.Pod, t corev1.PodConditionType) corev1.ConditionStatus {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			return p.Status.Conditions[i].Status
		}
	}
	return ""
}

// podSummary holds the numbers in a Pod's columns. reason is the Pod's status in one word.
type podSummary struct {
	reason          string
	ready, total    int
	restarts        int
	last            metav1.Time // the end of the container that was restarted last
	sidecarRestarts int
	sidecarLast     metav1.Time
}

func summarise(p *corev1.Pod) podSummary {
	s := podSummary{reason: string(p.Status.Phase), total: len(p.Spec.Containers)}
	if p.Status.Reason != "" {
		s.reason = p.Status.Reason
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.reason = corev1.PodReasonSchedulingGated
		}
	}
	for i := range p.Spec.InitContainers {
		if sidecar(&p.Spec.InitContainers[i]) {
			s.total++
		}
	}
	if !s.initialising(p) || podCondition(p, corev1.PodInitialized) == corev1.ConditionTrue {
		s.running(p)
	}
	switch {
	case p.DeletionTimestamp != nil && p.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed:
		s.reason = "Terminating"
	}
	return s
}

// sidecar reports whether an init container runs as long as the Pod.
func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func restarted(c *corev1.ContainerStatus, n *int, last *metav1.Time) {
	*n += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && last.Before(&t.FinishedAt) {
		*last = t.FinishedAt
	}
}

// initialising reads the init containers up to the first unfinished one. It reports whether it has found one.
func (s *podSummary) initialising(p *corev1.Pod) bool {
	sidecars := map[string]bool{}
	for i := range p.Spec.InitContainers {
		sidecars[p.Spec.InitContainers[i].Name] = sidecar(&p.Spec.InitContainers[i])
	}
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		restarted(c, &s.restarts, &s.last)
		if sidecars[c.Name] {
			restarted(c, &s.sidecarRestarts, &s.sidecarLast)
		}
		done := c.State.Terminated
		switch {
		case done != nil && done.ExitCode == 0:
			continue
		case sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case done != nil:
			s.reason = "Init:" + ended(done)
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			s.reason = "Init:" + c.State.Waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return true
	}
	return false
}

func ended(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// running reads the containers in reverse order, so that the reason comes from the first container with a reason.
func (s *podSummary) running(p *corev1.Pod) {
	s.restarts, s.last = s.sidecarRestarts, s.sidecarLast
	runs, failure := false, ""
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.Status.ContainerStatuses[i]
		restarted(c, &s.restarts, &s.last)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.reason = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s.reason = ended(c.State.Terminated)
			if c.State.Terminated.ExitCode != 0 {
				failure = s.reason
			}
		case c.Ready && c.State.Running != nil:
			runs = true
			s.ready++
		}
	}
	if s.reason != "Completed" {
		return
	}
	switch {
	case runs && podCondition(p, corev1.PodReady) == corev1.ConditionTrue:
		s.reason = "Running"
	case failure != "":
		s.reason = failure
	case runs:
		s.reason = "NotReady"
	}
}
