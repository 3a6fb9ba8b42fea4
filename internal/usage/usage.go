// Package usage measures what objects use of what a ResourceQuota limits. The server
// charges by it and the quota controller counts by it, so that the two agree.
//
// What a resize of a running Pod has been granted is not counted.
package usage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storageClass stands between the name of a storage class and what is limited of it.
const storageClass = ".storageclass.storage.k8s.io/"

// Of is what one object of a resource uses, by the names that quotas limit.
func Of(of schema.GroupResource, obj runtime.Object, now time.Time) Amounts {
	out := make(Amounts, 1, 8)
	out[0] = Amount{CountOf(of), one()}
	if of.Group != "" {
		return out
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		if !ended(o) && !writtenOff(o, now) {
			ofPod(o, &out)
		}
	case *corev1.Service:
		ofService(o, &out)
	case *corev1.PersistentVolumeClaim:
		ofClaim(o, &out)
	default:
		if Measures(of, corev1.ResourceName(of.Resource)) {
			out.set(corev1.ResourceName(of.Resource), one())
		}
	}
	return out
}

func one() resource.Quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

func ofService(svc *corev1.Service, out *Amounts) {
	out.set(corev1.ResourceServices, one())
	ports, balancers := 0, int64(0)
	switch svc.Spec.Type {
	case corev1.ServiceTypeNodePort:
		ports = len(svc.Spec.Ports)
	case corev1.ServiceTypeLoadBalancer:
		ports, balancers = len(svc.Spec.Ports), 1
		if own := svc.Spec.AllocateLoadBalancerNodePorts; own != nil && !*own {
			ports = 0
			for i := range svc.Spec.Ports {
				if svc.Spec.Ports[i].NodePort != 0 {
					ports++
				}
			}
		}
	}
	out.set(corev1.ResourceServicesNodePorts, *resource.NewQuantity(int64(ports), resource.DecimalSI))
	out.set(corev1.ResourceServicesLoadBalancers, *resource.NewQuantity(balancers, resource.DecimalSI))
}

// ofClaim: a claim uses what it asks for, or what a resize that failed has taken already.
func ofClaim(c *corev1.PersistentVolumeClaim, out *Amounts) {
	class := ClassOf(c)
	put := func(name corev1.ResourceName, n resource.Quantity) {
		out.set(name, n)
		if class != "" {
			out.set(corev1.ResourceName(class+storageClass)+name, n)
		}
	}
	put(corev1.ResourcePersistentVolumeClaims, one())
	n, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if !ok {
		return
	}
	if taken, ok := c.Status.AllocatedResources[corev1.ResourceStorage]; ok && taken.Cmp(n) > 0 {
		n = taken
	}
	n = n.DeepCopy()
	n.RoundUp(0)
	put(corev1.ResourceRequestsStorage, n)
}

// ClassOf is the storage class of a claim: the annotation that came before the field
// goes before it.
func ClassOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}
