package quota

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// storageClass stands between the name of a storage class and what is limited of it.
const storageClass = ".storageclass.storage.k8s.io/"

// usage is what one object uses.
func usage(k *fakeapi.Kind, obj runtime.Object, now time.Time) corev1.ResourceList {
	out := corev1.ResourceList{countOf(k): one()}
	if k.GVK.Group == "" {
		switch o := obj.(type) {
		case *corev1.Pod:
			if !ended(o) && !writtenOff(o, now) {
				add(out, ofPod(o))
			}
		case *corev1.Service:
			ofService(o, out)
		case *corev1.PersistentVolumeClaim:
			ofClaim(o, out)
		default:
			out[corev1.ResourceName(k.Resource)] = one()
		}
	}
	return out
}

func one() resource.Quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

func ofService(svc *corev1.Service, out corev1.ResourceList) {
	out[corev1.ResourceServices] = one()
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
	out[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(int64(ports), resource.DecimalSI)
	out[corev1.ResourceServicesLoadBalancers] = *resource.NewQuantity(balancers, resource.DecimalSI)
}

// ofClaim: a claim uses what it asks for, or what a resize that failed has taken already.
func ofClaim(c *corev1.PersistentVolumeClaim, out corev1.ResourceList) {
	class := c.Annotations[corev1.BetaStorageClassAnnotation]
	if class == "" && c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	put := func(name corev1.ResourceName, n resource.Quantity) {
		out[name] = n
		if class != "" {
			out[corev1.ResourceName(class+storageClass)+name] = n
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

const requests = corev1.DefaultResourceRequestsPrefix

// ofPods: a name is measured in Pods.
func ofPods(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	s := string(name)
	return strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix) || strings.HasPrefix(s, requests) && extended(s)
}

// extended: a resource that others than Kubernetes define.
func extended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

// ofPod is what a Pod that has not ended uses.
func ofPod(pod *corev1.Pod) corev1.ResourceList {
	out := corev1.ResourceList{corev1.ResourcePods: one()}
	asked, limits := total(pod, asks), total(pod, limitsTo)
	add(asked, pod.Spec.Overhead)
	for name, n := range pod.Spec.Overhead {
		if l, limited := limits[name]; limited {
			l = l.DeepCopy()
			l.Add(n)
			limits[name] = l
		}
	}
	for name, n := range asked {
		switch {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out[name], out[requests+name] = n, n
		case extended(string(name)):
			out[requests+name] = n
		}
	}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory,
		corev1.ResourceEphemeralStorage} {
		if n, ok := limits[name]; ok {
			out["limits."+name] = n
		}
	}
	return out
}

func asks(r *corev1.ResourceRequirements) corev1.ResourceList     { return r.Requests }
func limitsTo(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// total is what the containers of a Pod need at the time when they need most: all
// containers and sidecars together, or one init container beside the sidecars that
// run before it. What the Pod says for itself goes before that.
func total(pod *corev1.Pod, of func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum, beside, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		add(sum, of(&pod.Spec.Containers[i].Resources))
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		need := corev1.ResourceList{}
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(sum, of(&c.Resources))
			add(beside, of(&c.Resources))
		} else {
			add(need, of(&c.Resources))
		}
		add(need, beside)
		atLeast(most, need)
	}
	atLeast(sum, most)
	if own := pod.Spec.Resources; own != nil {
		for name, n := range of(own) {
			sum[name] = n
		}
	}
	return sum
}

// atLeast raises the entries of a list to those of another.
func atLeast(have, least corev1.ResourceList) {
	for name, n := range least {
		if m, ok := have[name]; !ok || n.Cmp(m) > 0 {
			have[name] = n
		}
	}
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// writtenOff: a Pod should be gone by now. Its node may be lost, and its namespace is
// not to suffer for that.
func writtenOff(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && untilWrittenOff(pod, now) == 0
}

// untilWrittenOff is how long a Pod that is being deleted counts yet; 0 for others.
func untilWrittenOff(pod *corev1.Pod, now time.Time) time.Duration {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	end := pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	return max(0, end.Sub(now)+1)
}
