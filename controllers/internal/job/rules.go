package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// verdict is what a Job's podFailurePolicy says of a pod that failed.
type verdict struct {
	action  batchv1.PodFailurePolicyAction // "" where no rule matches
	message string                         // why the Job fails, of FailJob
}

// counts reports whether the failure counts towards the limits.
func (v verdict) counts() bool { return v.action != batchv1.PodFailurePolicyActionIgnore }

// judge finds the first rule that matches a pod.
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

// exitedBy is the container that ended as a rule says: containers first, then those
// that initialise.
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

// enough says which rule of a Job's successPolicy is fulfilled by the indexes that
// have succeeded; "" for none.
func enough(j *batchv1.Job, succeeded intervals) string {
	if j.Spec.SuccessPolicy == nil {
		return ""
	}
	for i, rule := range j.Spec.SuccessPolicy.Rules {
		have, want := succeeded.total(), -1
		if rule.SucceededIndexes != nil {
			these := parseIntervals(*rule.SucceededIndexes, int(*j.Spec.Completions))
			if len(these) == 0 {
				continue // it cannot be read
			}
			have, want = these.common(succeeded), these.total()
		}
		if have == want || rule.SucceededCount != nil && have >= int(*rule.SucceededCount) {
			return fmt.Sprintf("Matched rules at index %d", i)
		}
	}
	return ""
}
