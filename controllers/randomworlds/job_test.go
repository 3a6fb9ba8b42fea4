package randomworlds_test

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// cronJobs has worlds for the CronJob controller. Schedules are dense, rare or impossible, with time zones, policies,
// deadlines and limits. Jobs end or are deleted. Some are missing from the status. Some Jobs of another owner have the
// name of a Job that is due.
var cronJobs = subject{
	name: "cronjob", kind: "CronJob",
	apart: true,
	most:  10 * time.Minute,
	begin: func(w *world) {
		w.World.Clock.Advance(time.Duration(w.n(100)) * time.Second)
		for range 1 + w.n(3) {
			w.cronJob()
		}
	},
	acts: []act{
		{3, "a CronJob", (*world).cronJob},
		{10, "a CronJob is changed", (*world).cronJobChanged},
		{3, "a CronJob goes", func(w *world) {
			if all := w.there("CronJob"); len(all) > 0 {
				w.drop(one(w, all...), one(w, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground,
					metav1.DeletePropagationForeground), nil)
			}
		}},
		{16, "a Job ends", (*world).jobEnds},
		{4, "a Job goes", func(w *world) {
			if all := w.there("Job"); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": fields{"finalizers": one(w, nil, nil,
					[]string{"a.b/c"})}})
				w.drop(one(w, all...), metav1.DeletePropagationBackground, nil)
			}
		}},
		{3, "a Job's owner", (*world).jobOwner},
		{5, "a CronJob's status", (*world).cronJobStatus},
		{4, "a Job of the next name", (*world).jobOfTheName},
		{5, "Jobs and CronJobs are others", (*world).cronRush},
		{8, "time", func(w *world) {
			w.settle(one(w, 25*time.Second, time.Minute, 62*time.Second, 3*time.Minute, 10*time.Minute))
		}},
	},
}

func (w *world) cronSchedule() string {
	return one(w, "* * * * *", "* * * * *", "* * * * *", "*/2 * * * *", "*/2 * * * *", "*/5 * * * *", "@hourly",
		"30 2 * * *", "*/2 0 * * *", "0 0 31 2 *", "@every 90s", "5,6,50 * * * *")
}

func (w *world) cronJob() {
	spec := []string{fmt.Sprintf("schedule: %q", w.cronSchedule())}
	more := func(n int, list ...string) {
		if w.in(n) {
			spec = append(spec, one(w, list...))
		}
	}
	more(1, "concurrencyPolicy: Forbid", "concurrencyPolicy: Replace", "concurrencyPolicy: Allow")
	more(4, "timeZone: Europe/Berlin", "timeZone: America/New_York", "timeZone: Etc/UTC")
	more(3, "startingDeadlineSeconds: 5", "startingDeadlineSeconds: 30", "startingDeadlineSeconds: 100",
		"startingDeadlineSeconds: 0", "startingDeadlineSeconds: 4000")
	more(2, "successfulJobsHistoryLimit: 0", "successfulJobsHistoryLimit: 1", "successfulJobsHistoryLimit: 2")
	more(2, "failedJobsHistoryLimit: 0", "failedJobsHistoryLimit: 2")
	more(6, "suspend: true", "suspend: false")
	w.make(place{"CronJob", "default", one(w, "a", "b", "c")}, `
spec:
  %s
  jobTemplate:
    metadata: {%s}
    spec: {template: {metadata: {labels: {x: y}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`, strings.Join(spec, "\n  "), one(w, "", "labels: {of: cj}, annotations: {note: kept}", "labels: {of: other}"))
}

func (w *world) cronJobChanged() {
	all := w.there("CronJob")
	if len(all) == 0 {
		return
	}
	w.merge(one(w, all...), "", one(w,
		fields{"spec": fields{"schedule": w.cronSchedule()}}, fields{"spec": fields{"schedule": w.cronSchedule()}},
		fields{"spec": fields{"timeZone": some(w, "Europe/Berlin", "Asia/Kolkata")}},
		fields{"spec": fields{"suspend": some(w, true, false)}}, fields{"spec": fields{"suspend": false}},
		fields{"spec": fields{"concurrencyPolicy": one(w, "Forbid", "Replace", "Allow")}},
		fields{"spec": fields{"startingDeadlineSeconds": some(w, 0, 20, 200)}},
		fields{"spec": fields{"successfulJobsHistoryLimit": some(w, 0, 1)}},
		fields{"spec": fields{"failedJobsHistoryLimit": some(w, 0, 1)}},
		fields{"metadata": fields{"labels": fields{"n": fmt.Sprint(w.n(50))}}},
		fields{"metadata": fields{"finalizers": one(w, nil, []string{"a.b/c"})}}))
}

func (w *world) jobEnds() {
	for range 1 + w.n(2) {
		edit(w, "Job", "status", func(j *batchv1.Job) bool { return len(j.Status.Conditions) < 2 },
			func(j *batchv1.Job) {
				started := w.around()
				j.Status.StartTime = some(w, started, started, metav1.NewTime(w.World.Clock.Now().Add(-time.Minute)))
				now := metav1.NewTime(w.World.Clock.Now())
				if w.in(6) {
					j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed,
						Status:             corev1.ConditionFalse,
						LastTransitionTime: now, LastProbeTime: now}}
				}
				add := func(types ...batchv1.JobConditionType) {
					for _, t := range types {
						j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: t,
							Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now})
					}
				}
				switch w.n(5) {
				case 0, 1, 2:
					if j.Status.StartTime == nil || j.Status.StartTime.After(now.Time) {
						j.Status.StartTime = &now
					}
					j.Status.CompletionTime = &now
					add(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
				case 3:
					add(batchv1.JobFailureTarget, batchv1.JobFailed)
				default:
					if j.Status.StartTime == nil {
						j.Status.StartTime = &now
					}
					add(one(w, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget))
				}
			})
	}
}

func (w *world) jobOwner() {
	edit(w, "Job", "", nil, func(j *batchv1.Job) {
		switch w.n(4) {
		case 0:
			j.OwnerReferences = nil
		case 1:
			delete(j.Annotations, batchv1.CronJobScheduledTimestampAnnotation)
		default:
			j.OwnerReferences = w.owners()
		}
	})
}

func (w *world) cronJobStatus() {
	edit(w, "CronJob", "status", nil, func(c *batchv1.CronJob) {
		switch w.n(5) {
		case 0:
			c.Status.Active = nil
		case 1:
			c.Status.Active = append(c.Status.Active, corev1.ObjectReference{Kind: "Job", Namespace: "default",
				Name: "nobody", UID: "0f0f0f0f-0000-4000-8000-000000000009", APIVersion: "batch/v1"})
		case 2:
			if all := objects[*batchv1.Job](w, "Job"); len(all) > 0 {
				j := one(w, all...)
				c.Status.Active = append(c.Status.Active, corev1.ObjectReference{Kind: "Job", Namespace: "default",
					Name: j.Name, UID: j.UID, APIVersion: "batch/v1"})
			}
		case 3:
			c.Status.LastScheduleTime = nil
		default:
			at := metav1.NewTime(w.World.Clock.Now().Add(-one(w, time.Minute, 3*time.Minute, 3*time.Hour,
				30*time.Hour)))
			c.Status.LastScheduleTime = &at
		}
	})
}

func (w *world) jobOfTheName() {
	all := w.there("CronJob")
	if len(all) == 0 {
		return
	}
	c := one(w, all...)
	minute := w.World.Clock.Now().Unix()/60 + int64(w.n(4))
	name := fmt.Sprintf("%s-%d", c.name, minute)
	if w.in(3) {
		name = fmt.Sprintf("%s-%d", c.name, minute*60)
	}
	w.make(place{"Job", "default", name}, `
metadata: {ownerReferences: %s, annotations: {%s}, labels: {%s}}
spec: {template: {metadata: {labels: {x: y}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`, encode(w.owners()), one(w, "", `batch.kubernetes.io/cronjob-scheduled-timestamp: "2017-03-01T00:00:00Z"`),
		one(w, "", "of: cj"))
}

// cronRush recreates a Job or CronJob while the controller's watch of its kind is paused.
func (w *world) cronRush() {
	k := w.Server.KindNamed(one(w, "Job", "Job", "CronJob"))
	_ = w.Do("hold "+k.GVK.Kind, func() error { w.process().Hold(k); return nil })
	for range 1 + w.n(2) {
		if all := w.there(k.GVK.Kind); len(all) > 0 {
			at := one(w, all...)
			old := w.at(at)
			w.drop(at, metav1.DeletePropagationBackground, nil)
			if k.GVK.Kind == "CronJob" {
				w.cronJob()
			} else if !w.in(3) {
				w.make(at, `
metadata: {ownerReferences: %s, annotations: {batch.kubernetes.io/cronjob-scheduled-timestamp: "2017-03-01T00:00:00Z"}}
spec: {template: {metadata: {labels: {x: y}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`, encode(one(w, old.GetOwnerReferences(), w.owners())))
			}
		}
		if w.in(2) {
			w.cronJobStatus()
		}
		w.settle(one(w, time.Second, 61*time.Second))
	}
	_ = w.Do("release", func() error { w.process().Release(k); return nil })
}
