package httpapi

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
)

// containers lists a template's containers and their images.
func containers(list []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range list {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func deref(n *int32) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

func replicationControllerCells(o *corev1.ReplicationController, now time.Time) []any {
	names, images := "", ""
	if o.Spec.Template != nil {
		names, images = containers(o.Spec.Template.Spec.Containers)
	}
	return []any{o.Name, deref(o.Spec.Replicas), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas), since(o.CreationTimestamp, now),
		names, images, labels.FormatLabels(o.Spec.Selector)}
}

func replicaSetCells(o *appsv1.ReplicaSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	return []any{o.Name, deref(o.Spec.Replicas), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas), since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func deploymentCells(o *appsv1.Deployment, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, deref(o.Spec.Replicas)), int64(o.Status.UpdatedReplicas),
		int64(o.Status.AvailableReplicas), since(o.CreationTimestamp, now), names, images, selector}
}

func statefulSetCells(o *appsv1.StatefulSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	return []any{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, deref(o.Spec.Replicas)), since(o.CreationTimestamp, now), names, images}
}

func daemonSetCells(o *appsv1.DaemonSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	s := &o.Status
	return []any{o.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady), int64(s.UpdatedNumberScheduled),
		int64(s.NumberAvailable), labels.FormatLabels(o.Spec.Template.Spec.NodeSelector), since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func controllerRevisionCells(o *appsv1.ControllerRevision, now time.Time) []any {
	controller := "<none>"
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		gv, _ := schema.ParseGroupVersion(ref.APIVersion)
		controller = strings.ToLower(gv.WithKind(ref.Kind).GroupKind().String()) + "/" + ref.Name
	}
	return []any{o.Name, controller, o.Revision, since(o.CreationTimestamp, now)}
}

func jobCells(o *batchv1.Job, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	completions := fmt.Sprintf("%d/1", o.Status.Succeeded)
	if o.Spec.Completions != nil {
		completions = fmt.Sprintf("%d/%d", o.Status.Succeeded, *o.Spec.Completions)
	} else if n := deref(o.Spec.Parallelism); n > 1 {
		completions = fmt.Sprintf("%d/1 of %d", o.Status.Succeeded, n)
	}
	took := ""
	switch start, end := o.Status.StartTime, o.Status.CompletionTime; {
	case start == nil:
	case end == nil:
		took = duration.HumanDuration(now.Sub(start.Time))
	default:
		took = duration.HumanDuration(end.Sub(start.Time))
	}
	return []any{o.Name, jobState(o), completions, took, since(o.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func jobState(o *batchv1.Job) string {
	has := func(t batchv1.JobConditionType) bool {
		for i := range o.Status.Conditions {
			if o.Status.Conditions[i].Type == t {
				return o.Status.Conditions[i].Status == corev1.ConditionTrue
			}
		}
		return false
	}
	switch {
	case has(batchv1.JobComplete):
		return "Complete"
	case has(batchv1.JobFailed):
		return "Failed"
	case o.DeletionTimestamp != nil:
		return "Terminating"
	case has(batchv1.JobSuspended):
		return "Suspended"
	case has(batchv1.JobFailureTarget):
		return "FailureTarget"
	case has(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func cronJobCells(o *batchv1.CronJob, now time.Time) []any {
	names, images := containers(o.Spec.JobTemplate.Spec.Template.Spec.Containers)
	last, zone, suspend := "<none>", "<none>", "<unset>"
	if t := o.Status.LastScheduleTime; t != nil {
		last = since(*t, now)
	}
	if o.Spec.TimeZone != nil {
		zone = *o.Spec.TimeZone
	}
	if o.Spec.Suspend != nil {
		suspend = "False"
		if *o.Spec.Suspend {
			suspend = "True"
		}
	}
	return []any{o.Name, o.Spec.Schedule, zone, suspend, int64(len(o.Status.Active)), last, since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.JobTemplate.Spec.Selector)}
}

func scaleCells(o *autoscalingv1.Scale, now time.Time) []any {
	return []any{o.Name, int64(o.Spec.Replicas), int64(o.Status.Replicas), since(o.CreationTimestamp, now)}
}
