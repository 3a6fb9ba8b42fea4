package table

import (
	"fmt"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
)

var (
	hpaSpec   = autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()
	hpaStatus = autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()

	autoscalerColumns = []column{nameColumn, text("Reference", hpaSpec["scaleTargetRef"]),
		text("Targets", hpaSpec["metrics"]), text("MinPods", hpaSpec["minReplicas"]),
		text("MaxPods", hpaSpec["maxReplicas"]), text("Replicas", hpaStatus["currentReplicas"]), ageColumn}
	autoscalersV1 = prints(autoscalerV1Cells, autoscalerColumns...)
	autoscalers   = prints(autoscalerCells, autoscalerColumns...)
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

// metricTargets shows the first two metrics, each as what is over what is wanted.
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

// utilization is percent over percent.
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
