package registry

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// The annotations in which version 1 carries what it has no fields for.
const (
	metricsNote    = "autoscaling.alpha.kubernetes.io/metrics"
	metricsNowNote = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsNote = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorNote   = "autoscaling.alpha.kubernetes.io/behavior"
)

// withoutNotes is a copy of the annotations without those above.
func withoutNotes(annotations map[string]string) map[string]string {
	if annotations == nil {
		return nil
	}
	rest := copyMap(annotations)
	for _, key := range [...]string{metricsNote, metricsNowNote, conditionsNote, behaviorNote,
		"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance"} {
		delete(rest, key)
	}
	return rest
}

func isCPU(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil &&
		m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

// showAutoscaler is version 1 of an autoscaler.
func showAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv1.HorizontalPodAutoscaler {
	a = a.DeepCopy()
	out := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: a.ObjectMeta}
	out.Annotations = withoutNotes(a.Annotations)
	out.Spec = autoscalingv1.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(a.Spec.ScaleTargetRef),
		MinReplicas:    a.Spec.MinReplicas, MaxReplicas: a.Spec.MaxReplicas}
	out.Status = autoscalingv1.HorizontalPodAutoscalerStatus{ObservedGeneration: a.Status.ObservedGeneration,
		LastScaleTime:   a.Status.LastScaleTime,
		CurrentReplicas: a.Status.CurrentReplicas, DesiredReplicas: a.Status.DesiredReplicas}
	var others []autoscalingv1.MetricSpec
	for i := range a.Spec.Metrics {
		m := &a.Spec.Metrics[i]
		if !isCPU(m) {
			others = append(others, showMetric(m))
		} else if out.Spec.TargetCPUUtilizationPercentage == nil {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		}
	}
	var now []autoscalingv1.MetricStatus
	for i := range a.Status.CurrentMetrics {
		m := &a.Status.CurrentMetrics[i]
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil &&
			m.Resource.Name == corev1.ResourceCPU && m.Resource.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = m.Resource.Current.AverageUtilization
		}
		now = append(now, showMetricNow(m))
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range a.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{
			Type:   autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type),
			Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message})
	}
	note(out, metricsNote, others, len(others) > 0)
	note(out, metricsNowNote, now, len(now) > 0)
	note(out, conditionsNote, conditions, len(conditions) > 0)
	if b := a.Spec.Behavior; b != nil {
		note(out, behaviorNote, noted{noteRules(b.ScaleUp), noteRules(b.ScaleDown)}, true)
	}
	return out
}

// note writes an annotation.
func note(a *autoscalingv1.HorizontalPodAutoscaler, key string, value any, there bool) {
	if !there {
		return
	}
	raw, err := json.Marshal(value)
	if err != nil {
		panic("fakeapi: a part of an autoscaler does not encode: " + err.Error())
	}
	if a.Annotations == nil {
		a.Annotations = map[string]string{}
	}
	a.Annotations[key] = string(raw)
}

// keepAutoscaler reads version 1. Annotations that do not parse count for
// nothing, as on the real server.
func keepAutoscaler(a *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	a = a.DeepCopy()
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: a.ObjectMeta}
	out.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(a.Spec.ScaleTargetRef),
		MinReplicas:    a.Spec.MinReplicas, MaxReplicas: a.Spec.MaxReplicas}
	out.Status = autoscalingv2.HorizontalPodAutoscalerStatus{ObservedGeneration: a.Status.ObservedGeneration,
		LastScaleTime:   a.Status.LastScaleTime,
		CurrentReplicas: a.Status.CurrentReplicas, DesiredReplicas: a.Status.DesiredReplicas}
	var others []autoscalingv1.MetricSpec
	if text, ok := a.Annotations[metricsNote]; ok && json.Unmarshal([]byte(text), &others) == nil {
		for i := range others {
			out.Spec.Metrics = append(out.Spec.Metrics, keepMetric(&others[i]))
		}
	}
	if p := a.Spec.TargetCPUUtilizationPercentage; p != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuTarget(*p))
	}
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuTarget(defaultUtilization)}
	}
	out.Spec.Behavior = readBehavior(a.Annotations[behaviorNote])
	if p := a.Status.CurrentCPUUtilizationPercentage; p != nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{Name: corev1.ResourceCPU,
				Current: autoscalingv2.MetricValueStatus{AverageUtilization: p}}}}
	}
	var now []autoscalingv1.MetricStatus
	if text, ok := a.Annotations[metricsNowNote]; ok && json.Unmarshal([]byte(text), &now) == nil {
		out.Status.CurrentMetrics = nil
		for i := range now {
			out.Status.CurrentMetrics = append(out.Status.CurrentMetrics, keepMetricNow(&now[i]))
		}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	if text, ok := a.Annotations[conditionsNote]; ok && json.Unmarshal([]byte(text), &conditions) == nil {
		for _, c := range conditions {
			out.Status.Conditions = append(out.Status.Conditions,
				autoscalingv2.HorizontalPodAutoscalerCondition{
					Type:   autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type),
					Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message})
		}
	}
	out.Annotations = withoutNotes(a.Annotations)
	defaultAutoscaler(out)
	return out
}
