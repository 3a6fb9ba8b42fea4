package upstream

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
)

// The kinds of the core group.
func coreKinds() []*strategy {
	return []*strategy{
		of(corev1.SchemeGroupVersion, "ConfigMap", configmap.Strategy),
		of(corev1.SchemeGroupVersion, "Endpoints", endpoint.Strategy),
		of(corev1.SchemeGroupVersion, "Event", event.Strategy),
		of(eventsv1.SchemeGroupVersion, "Event", event.Strategy),
		of(corev1.SchemeGroupVersion, "LimitRange", limitrange.Strategy),
		of(corev1.SchemeGroupVersion, "Namespace", namespace.Strategy).through("status", namespace.StatusStrategy).
			through("finalize", namespace.FinalizeStrategy),
		of(corev1.SchemeGroupVersion, "Node", node.Strategy).through("status", node.StatusStrategy),
		of(corev1.SchemeGroupVersion, "PersistentVolume", persistentvolume.Strategy).
			through("status", persistentvolume.StatusStrategy),
		of(corev1.SchemeGroupVersion, "PersistentVolumeClaim", persistentvolumeclaim.Strategy).
			through("status", persistentvolumeclaim.StatusStrategy),
		of(corev1.SchemeGroupVersion, "Pod", pod.Strategy).through("status", pod.StatusStrategy).
			through("ephemeralcontainers", pod.EphemeralContainersStrategy),
		of(corev1.SchemeGroupVersion, "PodTemplate", podtemplate.Strategy),
		of(corev1.SchemeGroupVersion, "ReplicationController", replicationcontroller.Strategy).
			through("status", replicationcontroller.StatusStrategy),
		of(corev1.SchemeGroupVersion, "ResourceQuota", resourcequota.Strategy).
			through("status", resourcequota.StatusStrategy),
		of(corev1.SchemeGroupVersion, "Secret", secret.Strategy),
		of(corev1.SchemeGroupVersion, "Service", service.Strategy).
			through("status", service.StatusStrategy).after(beginService),
		of(corev1.SchemeGroupVersion, "ServiceAccount", serviceaccount.Strategy),
		of(discoveryv1.SchemeGroupVersion, "EndpointSlice", endpointslice.Strategy),
		of(coordinationv1.SchemeGroupVersion, "Lease", lease.Strategy),
	}
}
