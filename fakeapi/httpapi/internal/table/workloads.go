package table

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
)

func autoscalerV1Cells(o *autoscalingv1.HorizontalPodAutoscaler, now time.Time) []any {
	targets := "<none>"
	if want := o.Spec.TargetCPUUtilizationPercentage; want != nil {
		targets = "cpu: " + utilization(o.Status.CurrentCPUUtilizationPercentage, want)
	}
	return []any{o.Name, o.Spec.ScaleTargetRef.Kind + "/" + o.Spec.ScaleTargetRef.Name, targets,
		minimum(o.Spec.MinReplicas), int64(o.Spec.MaxReplicas), int64(o.Status.CurrentReplicas),
		since(o.CreationTimestamp, now)}
}

func autoscalerCells(o *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
	return []any{o.Name, o.Spec.ScaleTargetRef.Kind + "/" + o.Spec.ScaleTargetRef.Name, metricTargets(o),
		minimum(o.Spec.MinReplicas), int64(o.Spec.MaxReplicas), int64(o.Status.CurrentReplicas),
		since(o.CreationTimestamp, now)}
}

func minimum(n *int32) string {
	if n == nil {
		return "<unset>"
	}
	return fmt.Sprint(*n)
}

func metricTargets(o *autoscalingv2.HorizontalPodAutoscaler) string {
	if len(o.Spec.Metrics) == 0 {
		return "<none>"
	}
	var list []string
	for i := range o.Spec.Metrics {
		var status autoscalingv2.MetricStatus
		if i < len(o.Status.CurrentMetrics) {
			status = o.Status.CurrentMetrics[i]
		}
		list = append(list, metricTarget(&o.Spec.Metrics[i], &status))
	}
	if n := len(list) - 2; n > 0 {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:2], ", "), n)
	}
	return strings.Join(list, ", ")
}

func metricTarget(m *autoscalingv2.MetricSpec, s *autoscalingv2.MetricStatus) string {
	var have autoscalingv2.MetricValueStatus
	switch {
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		if s.External != nil {
			have = s.External.Current
		}
		return valueTarget(&m.External.Target, &have)
	case m.Type == autoscalingv2.PodsMetricSourceType && m.Pods != nil:
		if s.Pods != nil {
			have = s.Pods.Current
		}
		return quantity(have.AverageValue) + "/" + quantity(m.Pods.Target.AverageValue)
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		if s.Object != nil {
			have = s.Object.Current
		}
		return valueTarget(&m.Object.Target, &have)
	case m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil:
		if s.Resource != nil {
			have = s.Resource.Current
		}
		return m.Resource.Name.String() + ": " + resourceTarget(&m.Resource.Target, &have)
	case m.Type == autoscalingv2.ContainerResourceMetricSourceType && m.ContainerResource != nil:
		if s.ContainerResource != nil {
			have = s.ContainerResource.Current
		}
		return m.ContainerResource.Name.String() + ": " + resourceTarget(&m.ContainerResource.Target, &have)
	}
	return "<unknown type>"
}

func valueTarget(want *autoscalingv2.MetricTarget, have *autoscalingv2.MetricValueStatus) string {
	if want.AverageValue != nil {
		return quantity(have.AverageValue) + "/" + want.AverageValue.String() + " (avg)"
	}
	return quantity(have.Value) + "/" + quantity(want.Value)
}

func resourceTarget(want *autoscalingv2.MetricTarget, have *autoscalingv2.MetricValueStatus) string {
	if want.AverageValue != nil {
		return quantity(have.AverageValue) + "/" + want.AverageValue.String()
	}
	return utilization(have.AverageUtilization, want.AverageUtilization)
}

func quantity(q *apiresource.Quantity) string {
	if q == nil {
		return "<unknown>"
	}
	return q.String()
}

func utilization(have, want *int32) string {
	current, target := "<unknown>", "<auto>"
	if have != nil {
		current = fmt.Sprintf("%d%%", *have)
	}
	if want != nil {
		target = fmt.Sprintf("%d%%", *want)
	}
	return current + "/" + target
}

func jobCells(o *batchv1.Job, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	completions := fmt.Sprintf("%d/1", o.Status.Succeeded)
	if o.Spec.Completions != nil {
		completions = fmt.Sprintf("%d/%d", o.Status.Succeeded, *o.Spec.Completions)
	} else if n := int64(ptr.Deref(o.Spec.Parallelism, 0)); n > 1 {
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
	return []any{o.Name, jobState(o), completions, took, since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
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
	last, suspend := "<none>", "<unset>"
	if t := o.Status.LastScheduleTime; t != nil {
		last = since(*t, now)
	}
	if o.Spec.Suspend != nil {
		suspend = "False"
		if *o.Spec.Suspend {
			suspend = "True"
		}
	}
	return []any{o.Name, o.Spec.Schedule, ptr.Deref(o.Spec.TimeZone, "<none>"), suspend, int64(len(o.Status.Active)), last,
		since(o.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(o.Spec.JobTemplate.Spec.Selector)}
}

func replicationControllerCells(o *corev1.ReplicationController, now time.Time) []any {
	names, images := "", ""
	if o.Spec.Template != nil {
		names, images = containers(o.Spec.Template.Spec.Containers)
	}
	return []any{o.Name, int64(ptr.Deref(o.Spec.Replicas, 0)), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas),
		since(o.CreationTimestamp, now), names, images, labels.FormatLabels(o.Spec.Selector)}
}

func replicaSetCells(o *appsv1.ReplicaSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	return []any{o.Name, int64(ptr.Deref(o.Spec.Replicas, 0)), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas),
		since(o.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func deploymentCells(o *appsv1.Deployment, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, int64(ptr.Deref(o.Spec.Replicas, 0))),
		int64(o.Status.UpdatedReplicas), int64(o.Status.AvailableReplicas), since(o.CreationTimestamp, now),
		names, images, selector}
}

func statefulSetCells(o *appsv1.StatefulSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	return []any{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, int64(ptr.Deref(o.Spec.Replicas, 0))),
		since(o.CreationTimestamp, now), names, images}
}

func daemonSetCells(o *appsv1.DaemonSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	s := &o.Status
	return []any{o.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady),
		int64(s.UpdatedNumberScheduled), int64(s.NumberAvailable),
		labels.FormatLabels(o.Spec.Template.Spec.NodeSelector), since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func containers(list []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range list {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func controllerRevisionCells(o *appsv1.ControllerRevision, now time.Time) []any {
	controller := "<none>"
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		gv, _ := schema.ParseGroupVersion(ref.APIVersion)
		controller = strings.ToLower(gv.WithKind(ref.Kind).GroupKind().String()) + "/" + ref.Name
	}
	return []any{o.Name, controller, o.Revision, since(o.CreationTimestamp, now)}
}

func podTemplateCells(o *corev1.PodTemplate, _ time.Time) []any {
	names, images := containers(o.Template.Spec.Containers)
	return []any{o.Name, names, images, labels.FormatLabels(o.Template.Labels)}
}
