package registry

import (
	"reflect"
	"strconv"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	autoscalingv1defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v1"
	autoscalingv2defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var jobs = kind[batchv1.Job, batchv1.JobList](batchv1.SchemeGroupVersion, validation.Job, &Kind{
	Counts: "Spec", OrphanByDefault: true, Default: On(defaultJob),
	OrphanedWarning: "child pods are preserved by default when jobs are deleted; set " +
		"propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
	PrepareCreate: On(func(j *batchv1.Job) {
		if !*j.Spec.ManualSelector {
			generateSelector(j)
		}
	}),
	ReadDefault: func(obj runtime.Object) bool {
		j := obj.(*batchv1.Job)
		if len(j.Labels) > 0 || len(j.Spec.Template.Labels) == 0 {
			return false
		}
		j.Labels = copyMap(j.Spec.Template.Labels)
		return true
	},
	SelectableKeys: []string{"status.successful"},
	Selectable: selects(func(j *batchv1.Job, set fields.Set) {
		set["status.successful"] = strconv.Itoa(int(j.Status.Succeeded))
	}),
})

// generateSelector makes a selector that only this Job's Pods match
// (JOBSEL-1 to JOBSEL-3). Labels that are there already stay; validation
// refuses them when they are wrong. Labels of the Job that were defaulted from
// the template's follow them.
func generateSelector(j *batchv1.Job) {
	labels := copyMap(j.Spec.Template.Labels)
	for _, l := range [...]struct{ key, value string }{{"job-name", j.Name},
		{batchv1.JobNameLabel, j.Name},
		{"controller-uid", string(j.UID)}, {batchv1.ControllerUidLabel, string(j.UID)}} {
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
	batchdefaults.SetObjectDefaults_Job(j) // its labels may be the template's own map: see generateSelector
	settlePodSpec(&j.Spec.Template.Spec)
	if j.Spec.ManualSelector == nil {
		j.Spec.ManualSelector = new(false)
	}
}

var cronJobs = kind[batchv1.CronJob, batchv1.CronJobList](batchv1.SchemeGroupVersion, validation.CronJob, &Kind{
	Counts: "Spec", Default: On(func(c *batchv1.CronJob) {
		batchdefaults.SetObjectDefaults_CronJob(c)
		settlePodSpec(&c.Spec.JobTemplate.Spec.Template.Spec)
	}),
})

var autoscalers = kind[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList](
	autoscalingv2.SchemeGroupVersion, validation.Autoscaler, &Kind{
		Default: On(autoscalingv2defaults.SetObjectDefaults_HorizontalPodAutoscaler), Canonicalize: asStored,
	})

var autoscalersV1 = makeAutoscalersV1()

func makeAutoscalersV1() *Kind {
	k := kind[autoscalingv1.HorizontalPodAutoscaler, autoscalingv1.HorizontalPodAutoscalerList](
		autoscalingv1.SchemeGroupVersion, validation.AutoscalerV1,
		&Kind{Default: On(autoscalingv1defaults.SetObjectDefaults_HorizontalPodAutoscaler)})
	show := through(autoscalingv2defaults.Convert_v2_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler,
		autoscalingv1defaults.Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler)
	keep := through(autoscalingv1defaults.Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler,
		autoscalingv2defaults.Convert_autoscaling_HorizontalPodAutoscaler_To_v2_HorizontalPodAutoscaler)
	k.View = between(autoscalers, k, show,
		func(a *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
			out := keep(a)
			autoscalingv2defaults.SetObjectDefaults_HorizontalPodAutoscaler(out)
			return out
		})
	return version(k)
}
