package validation

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	jobutil "k8s.io/kubernetes/pkg/api/job"
	pvcutil "k8s.io/kubernetes/pkg/api/persistentvolumeclaim"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsconv "k8s.io/kubernetes/pkg/apis/apps/v1"
	appsrules "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchconv "k8s.io/kubernetes/pkg/apis/batch/v1"
	batchrules "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	v "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/utils/ptr"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

var ReplicaSet = kind(appsconv.Convert_v1_ReplicaSet_To_apps_ReplicaSet,
	&keys[appsv1.ReplicaSet]{spec: func(r *appsv1.ReplicaSet) same.Encoded { return &r.Spec },
		status: func(r *appsv1.ReplicaSet) same.Encoded { return &r.Status }, alone: true},
	templated(templatePath, func(r *apps.ReplicaSet) *core.PodTemplateSpec { return &r.Spec.Template },
		appsrules.ValidateReplicaSet, appsrules.ValidateReplicaSetUpdate, rules[apps.ReplicaSet]{
			status: appsrules.ValidateReplicaSetStatusUpdate, hostnames: podHostnames}))

var Deployment = kind(appsconv.Convert_v1_Deployment_To_apps_Deployment,
	&keys[appsv1.Deployment]{spec: func(d *appsv1.Deployment) same.Encoded { return &d.Spec },
		status: func(d *appsv1.Deployment) same.Encoded { return &d.Status }, alone: true},
	templated(templatePath, func(d *apps.Deployment) *core.PodTemplateSpec { return &d.Spec.Template },
		appsrules.ValidateDeployment, appsrules.ValidateDeploymentUpdate, rules[apps.Deployment]{
			status: appsrules.ValidateDeploymentStatusUpdate, hostnames: podHostnames}))

var StatefulSet = kind(appsconv.Convert_v1_StatefulSet_To_apps_StatefulSet,
	&keys[appsv1.StatefulSet]{spec: func(s *appsv1.StatefulSet) same.Encoded { return &s.Spec },
		status: func(s *appsv1.StatefulSet) same.Encoded { return &s.Status }, alone: true},
	templated(templatePath, func(s *apps.StatefulSet) *core.PodTemplateSpec { return &s.Spec.Template },
		appsrules.ValidateStatefulSet, appsrules.ValidateStatefulSetUpdate, rules[apps.StatefulSet]{
			status: appsrules.ValidateStatefulSetStatusUpdate, warn: warnStatefulSet}))

func warnStatefulSet(s, old *apps.StatefulSet) (all []string) {
	for i := range s.Spec.VolumeClaimTemplates {
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec")
		}
		all = append(all, pvcutil.GetWarningsForPersistentVolumeClaimSpec(at, s.Spec.VolumeClaimTemplates[i].Spec)...)
	}
	if n := s.Spec.RevisionHistoryLimit; n != nil && *n < 0 {
		all = append(all,
			"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return all
}

var DaemonSet = kind(appsconv.Convert_v1_DaemonSet_To_apps_DaemonSet,
	&keys[appsv1.DaemonSet]{spec: func(d *appsv1.DaemonSet) same.Encoded { return &d.Spec },
		status: func(d *appsv1.DaemonSet) same.Encoded { return &d.Status }, alone: true},
	templated(templatePath, func(d *apps.DaemonSet) *core.PodTemplateSpec { return &d.Spec.Template },
		appsrules.ValidateDaemonSet, func(d, old *apps.DaemonSet, opts v.PodValidationOptions) field.ErrorList {
			opts.AllowInvalidLabelValueInSelector = opts.AllowInvalidLabelValueInSelector ||
				metav1validation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector)
			return appsrules.ValidateDaemonSetUpdate(d, old, opts)
		}, rules[apps.DaemonSet]{
			status: appsrules.ValidateDaemonSetStatusUpdate,
			changed: func(d, old *apps.DaemonSet) bool {
				return d.Spec.TemplateGeneration != old.Spec.TemplateGeneration
			}}))

var ControllerRevision = kind(appsconv.Convert_v1_ControllerRevision_To_apps_ControllerRevision, nil,
	rules[apps.ControllerRevision]{
		create: appsrules.ValidateControllerRevisionCreate, update: appsrules.ValidateControllerRevisionUpdate})

var Job = kind(batchconv.Convert_v1_Job_To_batch_Job,
	&keys[batchv1.Job]{spec: func(j *batchv1.Job) same.Encoded { return &j.Spec },
		status: func(j *batchv1.Job) same.Encoded { return &j.Status },
		name:   func(j *batchv1.Job) string { return string(j.UID) + "/" + j.Name }},
	rules[batch.Job]{
		create: func(j *batch.Job) field.ErrorList { return batchrules.ValidateJob(j, jobOptions(j, nil)) },
		update: func(j, old *batch.Job) field.ErrorList {
			opts := jobOptions(j, old)
			return append(batchrules.ValidateJob(j, opts), batchrules.ValidateJobUpdate(j, old, opts)...)
		},
		status: func(j, old *batch.Job) field.ErrorList {
			return batchrules.ValidateJobUpdateStatus(j, old, jobStatusOptions(j, old))
		},
		warn: func(j, old *batch.Job) []string {
			switch {
			case old == nil:
				return jobutil.WarningsForJobSpec(background, specPath, &j.Spec, nil)
			case j.Generation != old.Generation:
				return jobutil.WarningsForJobSpec(background, specPath, &j.Spec, &old.Spec)
			}
			return nil
		},
		hostnames: podHostnames})

// jobOptions returns the validation options of the Job strategy, with the default feature gates.
func jobOptions(j, old *batch.Job) batchrules.JobValidationOptions {
	if old == nil {
		return batchrules.JobValidationOptions{RequirePrefixedLabels: true,
			PodValidationOptions: podutil.GetValidationOptionsFromPodTemplate(&j.Spec.Template, nil)}
	}
	opts := batchrules.JobValidationOptions{
		PodValidationOptions: podutil.GetValidationOptionsFromPodTemplate(&j.Spec.Template, &old.Spec.Template)}
	opts.AllowInvalidLabelValueInSelector = opts.AllowInvalidLabelValueInSelector ||
		metav1validation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector)
	mutable := old.Spec.Suspend != nil && *old.Spec.Suspend && old.Status.Active == 0 &&
		(old.Status.StartTime == nil || batchrules.IsConditionTrue(old.Status.Conditions, batch.JobSuspended))
	opts.AllowMutablePodResources, opts.AllowMutableSchedulingDirectives = mutable, mutable
	_, named := old.Spec.Template.Labels[batch.JobNameLabel]
	_, controlled := old.Spec.Template.Labels[batch.ControllerUidLabel]
	opts.RequirePrefixedLabels = named && controlled
	return opts
}

// jobStatusOptions returns options that allow an update to keep errors of the old status.
func jobStatusOptions(j, old *batch.Job) batchrules.JobStatusValidationOptions {
	turned := func(condition batch.JobConditionType) bool {
		return batchrules.IsConditionTrue(old.Status.Conditions, condition) !=
			batchrules.IsConditionTrue(j.Status.Conditions, condition)
	}
	indexed := ptr.Deref(j.Spec.CompletionMode, batch.NonIndexedCompletion) == batch.IndexedCompletion
	finished := batchrules.IsJobFinished(old) != batchrules.IsJobFinished(j)
	complete := batchrules.IsJobComplete(old) != batchrules.IsJobComplete(j)
	failed := batchrules.IsJobFailed(old) != batchrules.IsJobFailed(j)
	completedIndexes := old.Status.CompletedIndexes != j.Status.CompletedIndexes
	failedIndexes := !ptr.Equal(old.Status.FailedIndexes, j.Status.FailedIndexes)
	active := old.Status.Active != j.Status.Active
	started := !ptr.Equal(old.Status.StartTime, j.Status.StartTime)
	completed := !ptr.Equal(old.Status.CompletionTime, j.Status.CompletionTime)
	uncounted := !equality.Semantic.DeepEqual(old.Status.UncountedTerminatedPods, j.Status.UncountedTerminatedPods)
	ready := !ptr.Equal(old.Status.Ready, j.Status.Ready)
	terminating := !ptr.Equal(old.Status.Terminating, j.Status.Terminating)
	empty := ptr.Equal(j.Spec.Suspend, ptr.To(true)) && ptr.Equal(j.Spec.Completions, ptr.To[int32](0))
	resuming := batchrules.IsConditionTrue(old.Status.Conditions, batch.JobSuspended) &&
		batchrules.IsConditionFalse(j.Status.Conditions, batch.JobSuspended)
	return batchrules.JobStatusValidationOptions{
		RejectDecreasingSucceededCounter:             !indexed || !ptr.Equal(j.Spec.Completions, j.Spec.Parallelism),
		RejectDecreasingFailedCounter:                true,
		RejectDisablingTerminalCondition:             true,
		RejectInvalidCompletedIndexes:                completedIndexes,
		RejectInvalidFailedIndexes:                   failedIndexes,
		RejectCompletedIndexesForNonIndexedJob:       completedIndexes,
		RejectFailedIndexesForNoBackoffLimitPerIndex: failedIndexes,
		RejectFailedIndexesOverlappingCompleted:      failedIndexes || completedIndexes,
		RejectFailedJobWithoutFailureTarget:          failed || failedIndexes,
		RejectCompleteJobWithoutSuccessCriteriaMet:   complete || turned(batch.JobSuccessCriteriaMet),
		RejectFinishedJobWithActivePods:              finished || active,
		RejectFinishedJobWithoutStartTime:            (finished || started) && !empty,
		RejectFinishedJobWithUncountedTerminatedPods: finished || uncounted,
		RejectStartTimeUpdateForUnsuspendedJob:       started && !resuming,
		RejectCompletionTimeBeforeStartTime:          started || completed,
		RejectMutatingCompletionTime:                 true,
		RejectNotCompleteJobWithCompletionTime:       complete || completed,
		RejectCompleteJobWithoutCompletionTime:       complete || completed,
		RejectCompleteJobWithFailedCondition:         complete || failed,
		RejectCompleteJobWithFailureTargetCondition:  complete || turned(batch.JobFailureTarget),
		AllowForSuccessCriteriaMetInExtendedScope:    true,
		RejectMoreReadyThanActivePods:                ready || active,
		RejectFinishedJobWithTerminatingPods:         finished || terminating,
	}
}

var CronJob = kind(batchconv.Convert_v1_CronJob_To_batch_CronJob, nil, templated(nil,
	func(c *batch.CronJob) *core.PodTemplateSpec { return &c.Spec.JobTemplate.Spec.Template },
	batchrules.ValidateCronJobCreate, batchrules.ValidateCronJobUpdate, rules[batch.CronJob]{
		warn: func(c, old *batch.CronJob) (all []string) {
			path := field.NewPath("spec", "jobTemplate", "spec")
			if old == nil {
				return jobutil.WarningsForJobSpec(background, path, &c.Spec.JobTemplate.Spec, nil)
			}
			if c.Generation != old.Generation {
				all = jobutil.WarningsForJobSpec(background, path, &c.Spec.JobTemplate.Spec, &old.Spec.JobTemplate.Spec)
			}
			if strings.Contains(c.Spec.Schedule, "TZ") {
				all = append(all, fmt.Sprintf("cannot use TZ or CRON_TZ in %s, use timeZone instead, see "+
					"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
					field.NewPath("spec", "spec", "schedule")))
			}
			return all
		},
		hostnames: podHostnames}))
