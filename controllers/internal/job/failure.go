package job

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// backoff holds how many pods of a Job have failed since the last success, and the time of the last failure.
type backoff struct {
	failures int
	last     time.Time
}

// after returns the backoff b after more pods have ended. Failures before the last success do not count.
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

// remaining returns how long the Job must wait before it creates another pod.
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

// endedAt returns when a pod ended: the end of its last container. Without that time, it returns when the pod became
// unready, was deleted, or was created.
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

// containersEnded returns when the last container of a pod ended, including sidecars. It returns zero if a sidecar has
// not ended. If another container has not ended, only the sidecars count.
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

// verdict is the result of a Job's podFailurePolicy for a failed pod.
type verdict struct {
	action  batchv1.PodFailurePolicyAction // "" if no rule matches
	message string                         // why the Job fails, for the action FailJob
}

// counts reports whether the failure counts towards the limits.
func (v verdict) counts() bool { return v.action != batchv1.PodFailurePolicyActionIgnore }

// judge returns the verdict of the first rule of the Job's podFailurePolicy that matches a pod.
func judge(j *batchv1.Job, p *corev1.Pod) verdict {
	if j.Spec.PodFailurePolicy == nil {
		return verdict{}
	}
	for i := range j.Spec.PodFailurePolicy.Rules {
		rule := &j.Spec.PodFailurePolicy.Rules[i]
		why := ""
		if rule.OnExitCodes != nil {
			if s := exitedBy(&p.Status, rule.OnExitCodes); s != nil {
				why = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v", s.Name, p.Namespace, p.Name,
					s.State.Terminated.ExitCode)
			}
		} else if c := conditionBy(&p.Status, rule.OnPodConditions); c != nil {
			why = fmt.Sprintf("Pod %s/%s has condition %v", p.Namespace, p.Name, c.Type)
		}
		if why == "" {
			continue
		}
		v := verdict{action: rule.Action}
		if rule.Action == batchv1.PodFailurePolicyActionFailJob {
			v.message = fmt.Sprintf("%s matching %v rule at index %d", why, rule.Action, i)
		}
		return v
	}
	return verdict{}
}

// exitedBy returns the first container whose exit matches a rule. It checks init containers last.
func exitedBy(s *corev1.PodStatus, rule *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, list := range [...][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			end := list[i].State.Terminated
			if end == nil || end.ExitCode == 0 || rule.ContainerName != nil && *rule.ContainerName != list[i].Name {
				continue
			}
			in := slices.Contains(rule.Values, end.ExitCode)
			if in && rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn ||
				!in && rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn {
				return &list[i]
			}
		}
	}
	return nil
}

func conditionBy(s *corev1.PodStatus, rule []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range s.Conditions {
		c := &s.Conditions[i]
		for _, p := range rule {
			if c.Type == p.Type && c.Status == p.Status {
				return c
			}
		}
	}
	return nil
}

// enough returns a message that names the first fulfilled rule of a Job's successPolicy, or "" if there is none.
func enough(j *batchv1.Job, succeeded intervals) string {
	if j.Spec.SuccessPolicy == nil {
		return ""
	}
	for i, rule := range j.Spec.SuccessPolicy.Rules {
		have, want := succeeded.total(), -1
		if rule.SucceededIndexes != nil {
			these := parseIntervals(*rule.SucceededIndexes, int(*j.Spec.Completions))
			if len(these) == 0 {
				continue // the rule cannot be parsed
			}
			have, want = these.common(succeeded), these.total()
		}
		if have == want || rule.SucceededCount != nil && have >= int(*rule.SucceededCount) {
			return fmt.Sprintf("Matched rules at index %d", i)
		}
	}
	return ""
}
