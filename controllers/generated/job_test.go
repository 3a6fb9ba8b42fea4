package generated_test

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

var jobs = subject{
	name:   "job",
	beside: []string{"kubelet@endless", "kubelet", "garbagecollector"},
	kind:   "Job",
	begin: func(w *world) {
		for range 1 + w.n(4) {
			w.podMade()
		}
		w.job()
		if w.in(3) {
			w.job()
		}
	},
	owner: (*world).job,
}

func init() {
	jobs.acts = []act{
		{6, "the job is scaled", func(w *world) {
			edit(w, "Job", "", nil, func(j *batchv1.Job) {
				j.Spec.Parallelism = some(w, int32(0), 1, 2, 3, 5)
				if j.Spec.CompletionMode != nil && w.in(3) {
					j.Spec.Completions = j.Spec.Parallelism
				}
			})
		}},
		{4, "the job is suspended, or goes on", func(w *world) {
			edit(w, "Job", "", nil, func(j *batchv1.Job) {
				is := j.Spec.Suspend != nil && *j.Spec.Suspend
				is = !is
				j.Spec.Suspend = &is
			})
		}},
		{2, "limits of the job change", func(w *world) {
			edit(w, "Job", "", nil, func(j *batchv1.Job) {
				switch w.n(3) {
				case 0:
					j.Spec.ActiveDeadlineSeconds = some(w, int64(1), 30)
				case 1:
					j.Spec.BackoffLimit = some(w, int32(0), 1, 9)
				default:
					j.Spec.TTLSecondsAfterFinished = some(w, int32(0), 10)
				}
			})
		}},
		{10, "pods of the job end", func(w *world) {
			w.podEnds(one(w, corev1.PodSucceeded, corev1.PodFailed))
		}},
		{2, "the status of a job changes", func(w *world) {
			edit(w, "Job", "status", nil, func(j *batchv1.Job) {
				switch w.n(6) {
				case 4, 5:
					for i := range j.Status.Conditions {
						c := &j.Status.Conditions[i]
						if c.Reason = one(w, c.Reason, "R"); w.in(2) {
							c.Message = "M"
						}
					}
				case 0:
					j.Status.StartTime = nil
				case 1:
					j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
						Type:   one(w, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet),
						Status: one(w, corev1.ConditionTrue, corev1.ConditionFalse), Reason: "R", Message: "M"})
				case 2:
					j.Status.Conditions = nil
				default:
					j.Status.UncountedTerminatedPods = nil
				}
			})
		}},
	}
}

// job makes a Job.
func (w *world) job() {
	for range 5 {
		j := &batchv1.Job{TypeMeta: typeOf("batch/v1", "Job")}
		j.Name = one(w, "a", "a", "b", "a-"+strings.Repeat("long-", 11)+"name")
		w.jobSpec(&j.Spec)
		if w.create(j) || w.in(3) {
			return
		}
	}
}

func (w *world) jobSpec(s *batchv1.JobSpec) {
	restart := one(w, corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)
	labels := w.labels()
	s.Template = w.template(labels, restart)
	if w.in(3) {
		yes := true
		s.ManualSelector, s.Selector = &yes, w.selector(labels)
	}
	s.Parallelism = one(w, nil, some(w, int32(0), 1, 2, 3, 5), some(w, int32(2), 3, 4))
	s.Completions = some(w, int32(0), 1, 2, 3, 5)
	s.BackoffLimit = some(w, int32(0), 1, 2, 6)
	s.ActiveDeadlineSeconds = one(w, nil, nil, some(w, int64(1), 10, 60, 600))
	s.TTLSecondsAfterFinished = one(w, nil, nil, some(w, int32(0), 10))
	s.Suspend = one(w, nil, nil, some(w, true, false))
	s.ManagedBy = one(w, nil, nil, nil, some(w, "kubernetes.io/job-controller", "example.com/other"))
	s.PodReplacementPolicy = one(w, nil, some(w, batchv1.Failed, batchv1.TerminatingOrFailed))
	s.CompletionMode = some(w, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion, batchv1.IndexedCompletion)
	if w.in(6) {
		s.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: one(w, "JOB_COMPLETION_INDEX", "OTHER"), Value: "v"}}
	}
	indexed := s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
	if indexed {
		s.Completions = new(int32)
		*s.Completions = one(w, int32(1), 2, 3, 5, 8)
		if *s.Completions > 4 && w.in(2) {
			s.Parallelism = s.Completions
		}
		if restart == corev1.RestartPolicyNever && w.in(2) {
			s.BackoffLimitPerIndex = some(w, int32(0), 1, 2)
			if s.BackoffLimitPerIndex != nil {
				s.MaxFailedIndexes = one(w, nil, some(w, int32(0), 1, 2))
				if s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > *s.Completions {
					s.MaxFailedIndexes = s.Completions
				}
			}
		}
		if w.in(3) {
			s.SuccessPolicy = w.successPolicy(*s.Completions)
		}
	}
	if restart == corev1.RestartPolicyNever && (w.in(3) || s.BackoffLimitPerIndex != nil && w.in(2)) {
		s.PodFailurePolicy = w.failurePolicy(s.BackoffLimitPerIndex != nil)
		if s.PodReplacementPolicy != nil {
			*s.PodReplacementPolicy = batchv1.Failed
		}
	}
}

func (w *world) successPolicy(completions int32) *batchv1.SuccessPolicy {
	p := &batchv1.SuccessPolicy{}
	for range 1 + w.n(2) {
		r := batchv1.SuccessPolicyRule{}
		list := []string{"0", "0-1", "0,2", "1-2,4"}[:min(int(completions), 4)]
		if w.in(2) {
			r.SucceededIndexes = some(w, list...)
		}
		if r.SucceededIndexes == nil || w.in(3) {
			n := int32(1)
			if r.SucceededIndexes == nil {
				n += int32(w.n(int(completions)))
			}
			r.SucceededCount = &n
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

func (w *world) failurePolicy(perIndex bool) *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for range 1 + w.n(3) {
		r := batchv1.PodFailurePolicyRule{Action: one(w, batchv1.PodFailurePolicyActionFailJob,
			batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount)}
		if perIndex && w.in(2) {
			r.Action = batchv1.PodFailurePolicyActionFailIndex
		}
		if w.in(2) {
			r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: some(w, "c", "i"),
				Operator: one(w, batchv1.PodFailurePolicyOnExitCodesOpIn,
					batchv1.PodFailurePolicyOnExitCodesOpNotIn),
				Values: one(w, []int32{1}, []int32{42}, []int32{2, 3}, []int32{1, 2, 137}),
			}
			if r.OnExitCodes.ContainerName != nil && *r.OnExitCodes.ContainerName == "i" && !w.in(2) {
				r.OnExitCodes.ContainerName = nil
			}
		} else {
			r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: one(w, corev1.DisruptionTarget, corev1.DisruptionTarget, "Odd"),
					Status: one(w, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse)}}
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}
