package registry

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Kinds of the objects in requests to subresources. They are not served themselves.
var (
	Scales    = goType[autoscalingv1.Scale, autoscalingv1.Scale](autoscalingv1.SchemeGroupVersion, &Kind{Namespaced: true})
	Evictions = goType[policyv1.Eviction, policyv1.Eviction](policyv1.SchemeGroupVersion, &Kind{Namespaced: true})
	Bindings  = goType[corev1.Binding, corev1.Binding](corev1.SchemeGroupVersion, &Kind{Namespaced: true})
)
