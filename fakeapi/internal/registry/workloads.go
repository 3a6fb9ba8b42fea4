package registry

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	autoscalingv1defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v1"
	autoscalingv2defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var daemonSets = kind[appsv1.DaemonSet, appsv1.DaemonSetList](appsv1.SchemeGroupVersion, validation.DaemonSet, &Row{
	Counts: "Spec", Default: On(defaultDaemonSet), Judged: readGeneration,
	PrepareCreate: On(func(d *appsv1.DaemonSet) { setTemplateGeneration(d, max(templateGeneration(d), 1)) }),
	Main: Update{Prepare: Over(func(d, old *appsv1.DaemonSet) {
		n := templateGeneration(old)
		if !same.Value(&d.Spec.Template, &old.Spec.Template) {
			n++
		}
		setTemplateGeneration(d, n)
	})},
	ForStatus: Update{Prepare: Over(func(d, old *appsv1.DaemonSet) {
		setTemplateGeneration(d, templateGeneration(old))
	})},
})

func readGeneration(obj runtime.Object) error {
	text, ok := obj.(*appsv1.DaemonSet).Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok {
		return nil
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return err
}

func setTemplateGeneration(d *appsv1.DaemonSet, n int64) {
	text := strconv.FormatInt(n, 10)
	if d.Annotations[appsv1.DeprecatedTemplateGeneration] == text {
		return
	}
	annotations := copyMap(d.Annotations)
	annotations[appsv1.DeprecatedTemplateGeneration] = text
	d.Annotations = annotations
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	appsdefaults.SetObjectDefaults_DaemonSet(d)
	setTemplateGeneration(d, templateGeneration(d))
	settlePodSpec(&d.Spec.Template.Spec)
}

var controllerRevisions = kind[appsv1.ControllerRevision, appsv1.ControllerRevisionList](appsv1.SchemeGroupVersion,
	validation.ControllerRevision, &Row{})

// templateGeneration returns the template generation from the annotation of a DaemonSet; 0 if it has none.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

var deployments = kind[appsv1.Deployment, appsv1.DeploymentList](appsv1.SchemeGroupVersion, validation.Deployment,
	&Row{
		Counts: "Spec", Judged: readRollback, Default: On(func(d *appsv1.Deployment) {
			appsdefaults.SetObjectDefaults_Deployment(d)
			settlePodSpec(&d.Spec.Template.Spec)
		}),
		Main: Update{Prepare: Over(func(d, old *appsv1.Deployment) {
			if !maps.Equal(d.Annotations, old.Annotations) {
				d.Generation = old.Generation + 1
			}
		})},
		ForStatus:     Update{Prepare: Over(func(d, old *appsv1.Deployment) { d.Labels = old.Labels })},
		ResetByStatus: [][]any{{"metadata", "labels"}},
		Scale: scaled(func(d *appsv1.Deployment) (**int32, int32, *metav1.LabelSelector) {
			return &d.Spec.Replicas, d.Status.Replicas, d.Spec.Selector
		}),
	})

func readRollback(obj runtime.Object) error {
	text := obj.(*appsv1.Deployment).Annotations[appsv1.DeprecatedRollbackTo]
	if _, err := strconv.ParseInt(text, 10, 64); text != "" && err != nil {
		return fmt.Errorf("failed to parse annotation[%s]=%s as int64: %v", appsv1.DeprecatedRollbackTo, text, err)
	}
	return nil
}

var replicaSets = kind[appsv1.ReplicaSet, appsv1.ReplicaSetList](appsv1.SchemeGroupVersion, validation.ReplicaSet,
	&Row{
		Counts: "Spec", Default: On(func(rs *appsv1.ReplicaSet) {
			appsdefaults.SetObjectDefaults_ReplicaSet(rs)
			settlePodSpec(&rs.Spec.Template.Spec)
		}),
		Scale: scaled(func(rs *appsv1.ReplicaSet) (**int32, int32, *metav1.LabelSelector) {
			return &rs.Spec.Replicas, rs.Status.Replicas, rs.Spec.Selector
		}),
	})

var replicationControllers = kind[corev1.ReplicationController, corev1.ReplicationControllerList](
	corev1.SchemeGroupVersion, validation.ReplicationController, &Row{
		Counts: "Spec", OrphanByDefault: true, Prefix: "controllers",
		Default: On(func(rc *corev1.ReplicationController) {
			coredefaults.SetObjectDefaults_ReplicationController(rc)
			if rc.Spec.Template != nil {
				settlePodSpec(&rc.Spec.Template.Spec)
			}
		}),
		Scale: scaled(func(rc *corev1.ReplicationController) (**int32, int32, *metav1.LabelSelector) {
			return &rc.Spec.Replicas, rc.Status.Replicas, &metav1.LabelSelector{MatchLabels: rc.Spec.Selector}
		}),
		SelectableKeys: []string{"status.replicas"},
		Selectable: selects(func(rc *corev1.ReplicationController, set fields.Set) {
			set["status.replicas"] = strconv.Itoa(int(rc.Status.Replicas))
		}),
	})

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	maps.Copy(c, m)
	return c
}

var statefulSets = kind[appsv1.StatefulSet, appsv1.StatefulSetList](appsv1.SchemeGroupVersion, validation.StatefulSet,
	&Row{
		Counts: "Spec", Default: On(defaultStatefulSet), PrepareCreate: On(dropMaxUnavailable),
		Main: Update{Prepare: Over(func(s, _ *appsv1.StatefulSet) { dropMaxUnavailable(s) }), Keeps: true},
		Scale: scaled(func(s *appsv1.StatefulSet) (**int32, int32, *metav1.LabelSelector) {
			return &s.Spec.Replicas, s.Status.Replicas, s.Spec.Selector
		}),
	})

func dropMaxUnavailable(s *appsv1.StatefulSet) {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		kept := *r
		kept.MaxUnavailable = nil
		s.Spec.UpdateStrategy.RollingUpdate = &kept
	}
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	appsdefaults.SetObjectDefaults_StatefulSet(s)
	settlePodSpec(&s.Spec.Template.Spec)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
	}
}

var jobs = kind[batchv1.Job, batchv1.JobList](batchv1.SchemeGroupVersion, validation.Job, &Row{
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

// generateSelector sets a selector that matches only Pods of this Job (JOBSEL-1 to JOBSEL-3). It does not replace
// labels of the template. Validation refuses wrong labels. If the Job and its template share one map of labels, the Job
// gets the new labels too.
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
	batchdefaults.SetObjectDefaults_Job(j) // may share the template's map of labels with the Job: see generateSelector
	settlePodSpec(&j.Spec.Template.Spec)
	if j.Spec.ManualSelector == nil {
		j.Spec.ManualSelector = new(false)
	}
}

var cronJobs = kind[batchv1.CronJob, batchv1.CronJobList](batchv1.SchemeGroupVersion, validation.CronJob, &Row{
	Counts: "Spec", Default: On(func(c *batchv1.CronJob) {
		batchdefaults.SetObjectDefaults_CronJob(c)
		settlePodSpec(&c.Spec.JobTemplate.Spec.Template.Spec)
	}),
})

var autoscalers = kind[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList](
	autoscalingv2.SchemeGroupVersion, validation.Autoscaler, &Row{
		Default: On(autoscalingv2defaults.SetObjectDefaults_HorizontalPodAutoscaler), Canonicalize: asStored,
	})

var autoscalersV1 = makeAutoscalersV1()

func makeAutoscalersV1() *Row {
	k := kind[autoscalingv1.HorizontalPodAutoscaler, autoscalingv1.HorizontalPodAutoscalerList](
		autoscalingv1.SchemeGroupVersion, validation.AutoscalerV1,
		&Row{Default: On(autoscalingv1defaults.SetObjectDefaults_HorizontalPodAutoscaler)})
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
