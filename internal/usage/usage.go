// Package usage measures what objects use of a ResourceQuota's resources. The server and the quota controller both use
// it, so that they agree.
//
// It does not count what an in-place resize of a running Pod was granted.
package usage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storageClass separates the name of a storage class from its limited resource.
const storageClass = ".storageclass.storage.k8s.io/"

// Of returns what one object of a resource uses, by the names in quotas.
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

// ofClaim: a claim uses its request, or what a failed resize has already taken.
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

// ClassOf returns the storage class of a claim: the older annotation takes precedence over the field.
func ClassOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}
