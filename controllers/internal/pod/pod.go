// Package pod is what controllers of pods have in common: pods made from a
// template, which of them count, which is to be deleted before which.
package pod

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is the kind of pods.
var Kind = corev1.SchemeGroupVersion.WithKind("Pod")

// FromTemplate makes a pod of an owner from a template: labels, annotations,
// finalizers and spec are copies of the template's. Its name is made up by the
// server from the owner's. It carries the reference from the first moment (LAW-1);
// nil makes an orphan.
func FromTemplate(t *corev1.PodTemplateSpec, owner metav1.Object, controller *metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:    owner.GetNamespace(),
			GenerateName: owner.GetName() + "-",
			Labels:       maps.Clone(t.Labels),
			Annotations:  maps.Clone(t.Annotations),
			Finalizers:   slices.Clone(t.Finalizers),
		},
		Spec: *t.Spec.DeepCopy(),
	}
	if controller != nil {
		p.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	return p
}

// Active reports whether a pod neither has ended nor is being deleted.
func Active(p *corev1.Pod) bool { return !Ended(p) && p.DeletionTimestamp == nil }

// Terminating reports whether a pod is being deleted and has not ended.
func Terminating(p *corev1.Pod) bool { return !Ended(p) && p.DeletionTimestamp != nil }

// Ended reports whether a pod succeeded or failed: it will not run again.
func Ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Ready reports whether a pod says that it is.
func Ready(p *corev1.Pod) bool { return ReadyCondition(p) != nil }

// ReadyCondition is the condition that says that a pod is ready; nil when it is not.
func ReadyCondition(p *corev1.Pod) *corev1.PodCondition {
	if c := Condition(p, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		return c
	}
	return nil
}

// Condition finds a condition of a pod by its type; nil when it has none.
func Condition(p *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == of {
			return c
		}
	}
	return nil
}

// Available reports whether a pod has been ready for so many seconds. One that does
// not say since when it is ready has not, unless it need not have been.
func Available(p *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	c := ReadyCondition(p)
	if c == nil || minReadySeconds == 0 {
		return c != nil
	}
	return !c.LastTransitionTime.IsZero() && !availableAt(c, minReadySeconds).After(now)
}

func availableAt(ready *corev1.PodCondition, minReadySeconds int32) time.Time {
	return ready.LastTransitionTime.Add(time.Duration(minReadySeconds) * time.Second)
}

// NextAvailable is how long it takes until the next of the pods that are ready has
// been ready for so many seconds; 0 when there is none to wait for.
func NextAvailable(pods []*corev1.Pod, minReadySeconds int32, now time.Time) time.Duration {
	next := time.Duration(0)
	for _, p := range pods {
		c := ReadyCondition(p)
		if c == nil || minReadySeconds <= 0 {
			continue
		}
		if d := availableAt(c, minReadySeconds).Sub(now); d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	return next
}
