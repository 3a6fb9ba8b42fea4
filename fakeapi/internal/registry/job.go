package registry

import (
	"math"
	"reflect"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var jobs = goType[batchv1.Job, batchv1.JobList](&Kind{
	GVK: batchv1.SchemeGroupVersion.WithKind("Job"), Resource: "jobs", Singular: "job", Categories: []string{"all"},
	Namespaced: true, Status: true, OrphanByDefault: true, Default: On(defaultJob),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		OrphanedWarning: "child pods are preserved by default when jobs are deleted; set " +
			"propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
		PrepareCreate: On(func(j *batchv1.Job) {
			if !*j.Spec.ManualSelector {
				generateSelector(j)
			}
			j.Status, j.Generation = batchv1.JobStatus{}, 1
		}),
		ReadDefault: func(obj runtime.Object) bool {
			j := obj.(*batchv1.Job)
			if len(j.Labels) > 0 || len(j.Spec.Template.Labels) == 0 {
				return false
			}
			j.Labels = copyMap(j.Spec.Template.Labels)
			return true
		},
		ValidateCreate: Check(func(j *batchv1.Job) (errs field.ErrorList) { return validation.Job(j, true) }),
		WarnCreate: Warns(func(j *batchv1.Job) []string {
			return append(validation.WarnPodPrefix(j), validation.WarnJobSpec(&j.Spec, field.NewPath("spec"))...)
		}),
		Main: Update{
			Prepare: Over(func(j, old *batchv1.Job) {
				j.Status = old.Status
				if !same.Value(&j.Spec, &old.Spec) {
					j.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.JobUpdate), again: checks{onCreate, onUpdate}, Keeps: true,
			Warn: WarnsChanged(func(j *batchv1.Job) []string {
				return validation.WarnJobSpec(&j.Spec, field.NewPath("spec"))
			}),
		},
		ForStatus: Update{
			Prepare:  Over(func(j, old *batchv1.Job) { j.Spec = old.Spec }),
			Validate: Compare(validation.JobStatus), again: checks{onUpdate}, Keeps: true,
		},
		SelectableKeys: []string{"status.successful"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["status.successful"] = strconv.Itoa(int(obj.(*batchv1.Job).Status.Succeeded))
		},
	},
})

// generateSelector makes a selector that only this Job's Pods match
// (JOBSEL-1 to JOBSEL-3). Labels that are there already stay; validation
// refuses them when they are wrong. Labels of the Job that were defaulted from
// the template's follow them.
func generateSelector(j *batchv1.Job) {
	labels := copyMap(j.Spec.Template.Labels)
	for _, l := range [...]struct{ key, value string }{{validation.LegacyJobName, j.Name},
		{batchv1.JobNameLabel, j.Name},
		{validation.LegacyControllerUID, string(j.UID)}, {batchv1.ControllerUidLabel, string(j.UID)}} {
		if _, ok := labels[l.key]; !ok {
			labels[l.key] = l.value
		}
	}
	if len(j.Labels) > 0 && reflect.ValueOf(j.Labels).Pointer() == reflect.ValueOf(j.Spec.Template.Labels).Pointer() {
		j.Labels = copyMap(labels)
	}
	j.Spec.Template.Labels = labels
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if j.Spec.Selector.MatchLabels == nil {
		j.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, ok := j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(j.UID)
	}
}

func defaultJob(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		orInt32(&s.Completions, 1)
	}
	orInt32(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		orInt32(&s.BackoffLimit, math.MaxInt32)
	}
	orInt32(&s.BackoffLimit, 6)
	if s.Template.Labels != nil && len(j.Labels) == 0 {
		j.Labels = s.Template.Labels // the same map: see generateSelector
	}
	if s.CompletionMode == nil {
		mode := batchv1.NonIndexedCompletion
		s.CompletionMode = &mode
	}
	if s.Suspend == nil {
		s.Suspend = &no
	}
	if s.PodReplacementPolicy == nil {
		policy := batchv1.TerminatingOrFailed
		if s.PodFailurePolicy != nil {
			policy = batchv1.Failed
		}
		s.PodReplacementPolicy = &policy
	}
	if s.ManualSelector == nil {
		s.ManualSelector = &no
	}
	defaultFailurePolicy(s.PodFailurePolicy)
	defaultPodSpec(&s.Template.Spec)
}

// defaultFailurePolicy: a rule that names a condition means that it is true.
func defaultFailurePolicy(p *batchv1.PodFailurePolicy) {
	if p == nil {
		return
	}
	for i := range p.Rules {
		for j := range p.Rules[i].OnPodConditions {
			if c := &p.Rules[i].OnPodConditions[j]; c.Status == "" {
				c.Status = corev1.ConditionTrue
			}
		}
	}
}

var cronJobs = goType[batchv1.CronJob, batchv1.CronJobList](&Kind{
	GVK: batchv1.SchemeGroupVersion.WithKind("CronJob"), Resource: "cronjobs", Singular: "cronjob",
	ShortNames: []string{"cj"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultCronJob),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(c *batchv1.CronJob) {
			c.Status, c.Generation = batchv1.CronJobStatus{}, 1
		}),
		ValidateCreate: Check(validation.CronJob),
		WarnCreate: Warns(func(c *batchv1.CronJob) []string {
			return append(validation.WarnPodPrefix(c), validation.WarnCronJob(c)...)
		}),
		Main: Update{
			Prepare: Over(func(c, old *batchv1.CronJob) {
				c.Status = old.Status
				if !same.Value(&c.Spec, &old.Spec) {
					c.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.CronJobUpdate), again: checks{onUpdate}, Keeps: true,
			Warn: func(obj, old runtime.Object) []string {
				c := obj.(*batchv1.CronJob)
				return append(WarnsChanged(validation.WarnCronJob)(obj, old), validation.WarnTimeZone(c)...)
			},
		},
		ForStatus: Update{Prepare: Over(func(c, old *batchv1.CronJob) { c.Spec = old.Spec }), Keeps: true},
	},
})

func defaultCronJob(c *batchv1.CronJob) {
	s := &c.Spec
	if s.ConcurrencyPolicy == "" {
		s.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	if s.Suspend == nil {
		s.Suspend = &no
	}
	orInt32(&s.SuccessfulJobsHistoryLimit, 3)
	orInt32(&s.FailedJobsHistoryLimit, 1)
	defaultFailurePolicy(s.JobTemplate.Spec.PodFailurePolicy)
	defaultPodSpec(&s.JobTemplate.Spec.Template.Spec)
}
